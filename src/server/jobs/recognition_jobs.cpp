#include "server/jobs/recognition_jobs.h"

#include <cmath>

#include "heads/segment/segment_picture.h"
#include "image/resize/resize.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr double kMostProbabilities = 1 << 26;

std::vector<float> row_of(const Tensor& rows, std::size_t index) {
  const Tensor row = rows[static_cast<std::int64_t>(index)].contiguous();
  return {row.data_ptr<float>(), row.data_ptr<float>() + row.numel()};
}

}  // namespace

ClassifyJob::ClassifyJob(const HostedModel& model, Image square)
    : Job("classify " + model.name, 1), model_(model), square_(std::move(square)) {}

void ClassifyJob::run(const std::vector<Share>& shares) {
  torch::NoGradGuard guard;
  std::vector<Image> squares;
  for (const Share& share : shares) {
    squares.push_back(static_cast<ClassifyJob&>(*share.job).square_);
  }
  const Tensor pixels = to_tensor(squares).to(compute_device());
  const Tensor rows =
      model_.classifier->forward(normalise_pixels(pixels)).to(torch::kFloat32).softmax(1).cpu();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    static_cast<ClassifyJob&>(*shares[i].job).result_ = row_of(rows, i);
  }
}

FeaturesJob::FeaturesJob(const HostedModel& model, Image square)
    : Job("features " + model.name, 1), model_(model), square_(std::move(square)) {}

void FeaturesJob::run(const std::vector<Share>& shares) {
  std::vector<Image> squares;
  for (const Share& share : shares) {
    squares.push_back(static_cast<FeaturesJob&>(*share.job).square_);
  }
  const Tensor rows = model_.encoder.of(to_tensor(squares).to(compute_device())).cpu();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    static_cast<FeaturesJob&>(*shares[i].job).result_ = row_of(rows, i);
  }
}

DetectJob::DetectJob(const HostedModel& model, Image picture, const DetectorLimits& limits)
    : Job("", 1), model_(model), picture_(std::move(picture)), limits_(limits) {}

void DetectJob::run(const std::vector<Share>&) {
  torch::NoGradGuard guard;
  result_ = detect_picture(*model_.detector, picture_, limits_);
}

SegmentJob::SegmentJob(const HostedModel& model, Image picture)
    : Job("", 1), model_(model), picture_(std::move(picture)) {}

void SegmentJob::run(const std::vector<Share>&) {
  torch::NoGradGuard guard;
  Segmenter& segmenter = *model_.segmenter;
  const LabelingOptions how{.short_side = segmenter.config().size};
  // Probabilities of every class of every pixel are held at once: a large picture is made smaller,
  // and its label map large again.
  const double values =
      double(picture_.width) * double(picture_.height) * double(segmenter.config().classes());
  const double scale = std::sqrt(kMostProbabilities / values);
  if (scale >= 1) {
    result_ = segment_picture(segmenter, picture_, how);
    return;
  }
  const Image smaller = resize(picture_, std::max(1, int(picture_.width * scale)),
                               std::max(1, int(picture_.height * scale)), Resample::kBilinear);
  result_ =
      resize_labels(segment_picture(segmenter, smaller, how), picture_.width, picture_.height);
}

}  // namespace addp
