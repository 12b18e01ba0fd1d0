// Training pictures as tensors: the data set, the loader and the random crops behind one next().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/load/loader.h"
#include "data/set/dataset.h"
#include "eval/recognition/picture_tensors.h"
#include "nn/types.h"
#include "processes/distributed.h"
#include "train/options.h"

namespace addp {

struct FeedOptions {
  std::string data;
  std::string split = "train";
  Task task = Task::kPictures;
  std::int64_t size = 256;
  std::int64_t batch = 256;  // pictures that one next() of this process gives
  std::int64_t parts = 1;    // next() calls per step
  double crop = 0.2;         // smallest share of the area in a random crop; 1: the middle square
  bool flip = true;
  bool turn = false;
  Transform transform{};     // instead of crop, flip and turn
  std::int64_t repeats = 1;  // how often a picture comes in a row
  double label_share = 1;    // of the pictures of each class, those that are used
  std::int64_t seed = 0;
  std::int64_t workers = 0;
  std::int64_t rank = 0, world = 1;
  bool whole_epochs = false;  // also the last, shorter batch of an epoch

  static FeedOptions from(const TrainOptions& options, const World& world);
  // The same pictures for PictureFeed::pass: all of them in this process.
  FeedOptions for_passes() const;
};

class PictureFeed {
 public:
  explicit PictureFeed(const FeedOptions& options);
  ~PictureFeed();

  std::int64_t steps_per_epoch() const;
  void seek(std::int64_t step);
  PictureBatch next();
  // Every picture once more, in batches, without those that are broken; for feeds of whole epochs.
  // An interrupt is an InterruptedError.
  void pass(const std::string& label, const std::function<void(const PictureBatch&)>& visit);
  // `count` pictures of the training split, or of the validation split (of training where there is
  // none): the same ones in every process and at every call, middle squares.
  Tensor training_pictures(std::int64_t count) const;
  Tensor validation_pictures(std::int64_t count) const;
  const Dataset& dataset() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace addp
