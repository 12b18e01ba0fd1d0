#include "server/routes/neighbours.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/log.h"
#include "data/load/open_dataset.h"
#include "image/resize/resize.h"
#include "nn/torch.h"
#include "server/http/http_error.h"
#include "server/jobs/recognition_jobs.h"

namespace addp {
namespace {

constexpr std::int64_t kTogether = 16;
constexpr int kThumbnail = 96;

void normalise(std::vector<float>& feature) {
  double sum = 0;
  for (const float value : feature) sum += double(value) * value;
  const double scale = sum > 0 ? 1 / std::sqrt(sum) : 0;
  for (float& value : feature) value = float(value * scale);
}

}  // namespace

Neighbours::Neighbours(const std::string& data, const HostedModel& model, JobQueue& queue)
    : dataset_(open_dataset(data, "all", Task::kPictures)),
      model_(model),
      queue_(queue),
      thread_([this] { look(); }) {}

Neighbours::~Neighbours() {
  stopped_ = true;
  thread_.join();
}

void Neighbours::look() {
  try {
    for (std::int64_t first = 0; first < total() && !stopped_; first += kTogether) {
      look_at(first, std::min(first + kTogether, total()));
    }
  } catch (const HttpError&) {
    // The server is shutting down.
  } catch (const std::exception& error) {
    warn("the other pictures are left out of the neighbours: {}", error.what());
  }
  complete_ = true;
}

void Neighbours::look_at(std::int64_t first, std::int64_t end) {
  std::vector<std::pair<std::int64_t, std::shared_ptr<FeaturesJob>>> jobs;
  for (std::int64_t i = first; i < end; ++i) {
    Image square;
    try {
      square = middle_square(dataset_->get(i).picture(), model_.encoder.size);
    } catch (const std::exception& error) {
      warn("left out of the neighbours: {}", error.what());
      continue;
    }
    jobs.emplace_back(i, std::make_shared<FeaturesJob>(model_, std::move(square)));
    jobs.back().second->set_background();
    queue_.submit(jobs.back().second);
  }
  for (auto& [index, job] : jobs) {
    while (!job->over()) job->next(std::chrono::milliseconds(100));
    job->rethrow();
    std::vector<float> feature = job->result();
    normalise(feature);
    std::unique_lock lock(mutex_);
    indices_.push_back(index);
    features_.push_back(std::move(feature));
  }
}

std::int64_t Neighbours::known() const {
  std::unique_lock lock(mutex_);
  return static_cast<std::int64_t>(indices_.size());
}

std::vector<Neighbour> Neighbours::nearest(const std::vector<float>& feature,
                                           std::int64_t count) const {
  std::vector<float> wanted = feature;
  normalise(wanted);
  std::vector<std::pair<double, std::int64_t>> found;
  {
    std::unique_lock lock(mutex_);
    for (std::size_t i = 0; i < features_.size(); ++i) {
      const double dot =
          std::inner_product(wanted.begin(), wanted.end(), features_[i].begin(), 0.0);
      found.emplace_back(dot, indices_[i]);
    }
  }
  const auto kept = std::min(found.size(), static_cast<std::size_t>(count));
  std::partial_sort(found.begin(), found.begin() + std::ptrdiff_t(kept), found.end(),
                    std::greater<>());
  found.resize(kept);
  std::vector<Neighbour> neighbours;
  for (const auto& [similarity, index] : found) {
    neighbours.push_back({dataset_->name(index), similarity,
                          middle_square(dataset_->get(index).picture(), kThumbnail)});
  }
  return neighbours;
}

}  // namespace addp
