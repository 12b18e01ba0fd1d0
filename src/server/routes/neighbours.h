// The pictures of a set, by what an encoder sees in them. They are looked at in the background,
// when no request waits.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "data/load/middle_crop.h"
#include "data/set/dataset.h"
#include "image/image.h"
#include "server/jobs/queue.h"
#include "server/jobs/shelf.h"

namespace addp {

struct Neighbour {
  std::string name;
  double similarity = 0;  // cosine
  Image thumbnail;
};

class Neighbours {
 public:
  Neighbours(const std::string& data, const HostedModel& model, JobQueue& queue);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  const HostedModel& model() const { return model_; }
  std::int64_t known() const;  // pictures looked at so far
  std::int64_t total() const { return dataset_->size(); }
  bool complete() const { return complete_; }  // no more will become known
  // The most alike, best first.
  std::vector<Neighbour> nearest(const std::vector<float>& feature, std::int64_t count) const;

 private:
  void look();
  void look_at(std::int64_t first, std::int64_t end);

  std::shared_ptr<const Dataset> dataset_;
  const HostedModel& model_;
  JobQueue& queue_;
  mutable std::mutex mutex_;
  std::vector<std::int64_t> indices_;
  std::vector<std::vector<float>> features_;  // of length 1
  std::atomic<bool> stopped_{false}, complete_{false};
  std::thread thread_;
};

}  // namespace addp
