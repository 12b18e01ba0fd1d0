// Jobs that look at pictures. Results may be read when the job is over.
#pragma once

#include "heads/detect/detect_picture.h"
#include "server/jobs/job.h"
#include "server/jobs/shelf.h"

namespace addp {

// Probabilities of all classes. `square` is cut and resized for the model.
class ClassifyJob : public Job {
 public:
  ClassifyJob(const HostedModel& model, Image square);
  void run(const std::vector<Share>& shares) override;
  const std::vector<float>& probabilities() const { return result_; }

 private:
  const HostedModel& model_;
  Image square_;
  std::vector<float> result_;
};

// The encoder's feature of a square picture of its size.
class FeaturesJob : public Job {
 public:
  FeaturesJob(const HostedModel& model, Image square);
  void run(const std::vector<Share>& shares) override;
  const std::vector<float>& feature() const { return result_; }

 private:
  const HostedModel& model_;
  Image square_;
  std::vector<float> result_;
};

class DetectJob : public Job {
 public:
  DetectJob(const HostedModel& model, Image picture, const DetectorLimits& limits);
  void run(const std::vector<Share>& shares) override;
  const std::vector<Detection>& detections() const { return result_; }

 private:
  const HostedModel& model_;
  Image picture_;
  DetectorLimits limits_;
  std::vector<Detection> result_;
};

class SegmentJob : public Job {
 public:
  SegmentJob(const HostedModel& model, Image picture);
  void run(const std::vector<Share>& shares) override;
  const GrayImage& labels() const { return result_; }

 private:
  const HostedModel& model_;
  Image picture_;
  GrayImage result_;
};

}  // namespace addp
