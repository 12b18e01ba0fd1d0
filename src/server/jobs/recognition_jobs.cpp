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

void RowJob::run(const std::vector<Share>& shares) {
  torch::NoGradGuard guard;
  std::vector<Image> squares;
  for (const Share& share : shares) {
    squares.push_back(static_cast<RowJob&>(*share.job).picture_);
  }
  const Tensor rows = rows_of(to_tensor(squares).to(compute_device())).cpu();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    static_cast<RowJob&>(*shares[i].job).result_ = row_of(rows, i);
  }
}

Tensor ClassifyJob::rows_of(const Tensor& pixels) {
  return model_.classifier->forward(normalise_pixels(pixels)).to(torch::kFloat32).softmax(1);
}

void DetectJob::run(const std::vector<Share>&) {
  torch::NoGradGuard guard;
  result_ = detect_picture(*model_.detector, picture_, limits_);
}

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
