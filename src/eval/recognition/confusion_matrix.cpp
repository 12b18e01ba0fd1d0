#include "eval/recognition/confusion_matrix.h"

#include <fmt/ranges.h>

#include <numeric>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kMaxClasses = 32768;  // 8 GiB of counts

Tensor as_labels(const Tensor& x) { return x.to(torch::kCPU, torch::kLong).contiguous(); }

}  // namespace

ConfusionMatrix::ConfusionMatrix(std::int64_t classes) : classes_(classes) {
  if (classes < 1 || classes > kMaxClasses) {
    throw UsageError("a confusion matrix of {} classes: give 1 to {}", classes, kMaxClasses);
  }
  counts_.resize(std::size_t(classes * classes));
}

ConfusionMatrix::ConfusionMatrix(std::int64_t classes, std::vector<std::int64_t> counts)
    : ConfusionMatrix(classes) {
  if (counts.size() != counts_.size()) {
    throw UsageError("{} counts make no confusion matrix of {} classes", counts.size(), classes);
  }
  counts_ = std::move(counts);
}

void ConfusionMatrix::add(const Tensor& truth, const Tensor& prediction,
                          std::optional<std::int64_t> ignore, const LabelSources& sources) {
  if (truth.sizes() != prediction.sizes()) {
    throw UsageError("labels of shape {} cannot be compared with predictions of shape {}",
                     fmt::join(truth.sizes(), "x"), fmt::join(prediction.sizes(), "x"));
  }
  const auto t = as_labels(truth), p = as_labels(prediction);
  const auto *labels = t.const_data_ptr<std::int64_t>(), *found = p.const_data_ptr<std::int64_t>();
  const auto where = [](const std::string& source) { return source.empty() ? "" : source + ": "; };
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    if (ignore && labels[i] == *ignore) continue;
    if (labels[i] < 0 || labels[i] >= classes_) {
      throw DataError(
          "{}has label {}, but there are {} classes; say which label is to be ignored, or correct "
          "the number of classes",
          where(sources.truth), labels[i], classes_);
    }
    if (found[i] < 0 || found[i] >= classes_) {
      throw DataError("{}was predicted as class {}, but there are {} classes",
                      where(sources.prediction), found[i], classes_);
    }
    ++counts_[std::size_t(labels[i] * classes_ + found[i])];
  }
}

void ConfusionMatrix::add(const ConfusionMatrix& other) {
  if (other.classes_ != classes_) {
    throw UsageError("confusion matrices of {} and {} classes cannot be joined", classes_,
                     other.classes_);
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::int64_t ConfusionMatrix::at(std::int64_t truth, std::int64_t prediction) const {
  return counts_.at(std::size_t(truth * classes_ + prediction));
}

std::int64_t ConfusionMatrix::truths(std::int64_t label) const {
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < classes_; ++p) sum += at(label, p);
  return sum;
}

std::int64_t ConfusionMatrix::predictions(std::int64_t label) const {
  std::int64_t sum = 0;
  for (std::int64_t t = 0; t < classes_; ++t) sum += at(t, label);
  return sum;
}

std::int64_t ConfusionMatrix::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::int64_t ConfusionMatrix::correct() const {
  std::int64_t sum = 0;
  for (std::int64_t c = 0; c < classes_; ++c) sum += at(c, c);
  return sum;
}

}  // namespace addp
