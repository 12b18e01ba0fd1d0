// Jobs that look at pictures. Results may be read when the job is over.
#pragma once

#include "heads/detect/detect_picture.h"
#include "server/jobs/job.h"
#include "server/jobs/shelf.h"

namespace addp {

// One picture, and what a model finds in it.
template <class Result>
class PictureJob : public Job {
 public:
  const Result& result() const { return result_; }

 protected:
  PictureJob(std::string key, const HostedModel& model, Image picture)
      : Job(std::move(key), 1), model_(model), picture_(std::move(picture)) {}

  const HostedModel& model_;
  Image picture_;
  Result result_;
};

// A row of numbers for a square that was cut and resized for the model; those of several jobs are
// computed together.
class RowJob : public PictureJob<std::vector<float>> {
 public:
  void run(const std::vector<Share>& shares) final;

 protected:
  using PictureJob::PictureJob;
  // Of pixels [B, 3, H, W] in 0..1, a row each.
  virtual Tensor rows_of(const Tensor& pixels) = 0;
};

// Probabilities of all classes.
class ClassifyJob : public RowJob {
 public:
  ClassifyJob(const HostedModel& model, Image square)
      : RowJob("classify " + model.name, model, std::move(square)) {}

 private:
  Tensor rows_of(const Tensor& pixels) override;
};

// The encoder's feature.
class FeaturesJob : public RowJob {
 public:
  FeaturesJob(const HostedModel& model, Image square)
      : RowJob("features " + model.name, model, std::move(square)) {}

 private:
  Tensor rows_of(const Tensor& pixels) override { return model_.encoder.of(pixels); }
};

class DetectJob : public PictureJob<std::vector<Detection>> {
 public:
  DetectJob(const HostedModel& model, Image picture, const DetectorLimits& limits)
      : PictureJob("", model, std::move(picture)), limits_(limits) {}
  void run(const std::vector<Share>& shares) override;

 private:
  DetectorLimits limits_;
};

// Labels of all pixels.
class SegmentJob : public PictureJob<GrayImage> {
 public:
  SegmentJob(const HostedModel& model, Image picture) : PictureJob("", model, std::move(picture)) {}
  void run(const std::vector<Share>& shares) override;
};

}  // namespace addp
