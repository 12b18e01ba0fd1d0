#include "eval/generation/generation_metrics.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Rows of a distance or kernel matrix [rows, n] worked on at once: about 64 MB of doubles.
std::int64_t rows_at_once(std::int64_t n) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 23) / std::max<std::int64_t>(n, 1), 1, 4096);
}

void check_features(const Tensor& a, const Tensor& b, std::int64_t least) {
  if (a.dim() != 2 || b.dim() != 2 || a.size(1) != b.size(1)) {
    throw UsageError("features of shapes {} and {} cannot be compared: give [N, D] and [M, D]",
                     fmt::join(a.sizes(), "x"), fmt::join(b.sizes(), "x"));
  }
  if (a.size(0) < least || b.size(0) < least) {
    throw UsageError(
        "sets of {} and {} pictures are too small for this figure: give at least {} each",
        a.size(0), b.size(0), least);
  }
}

// Eigenvalues below the rounding error of the largest are noise around zero; their roots would
// not be small.
Tensor root_of_eigenvalues(const Tensor& values) {
  const double largest = values.max().item<double>();
  const double noise = largest * double(values.size(0)) * std::numeric_limits<double>::epsilon();
  return torch::where(values > noise, values, torch::zeros_like(values)).sqrt();
}

// Distance of each row to its k-th neighbour among the others (the row itself is the first).
Tensor neighbour_radius(const Tensor& features, std::int64_t neighbours) {
  std::vector<Tensor> parts;
  for (const auto& rows : features.split(rows_at_once(features.size(0)))) {
    parts.push_back(std::get<0>(torch::cdist(rows, features).kthvalue(neighbours + 1, 1)));
  }
  return torch::cat(parts);
}

double share_inside(const Tensor& queries, const Tensor& centres, const Tensor& radius) {
  std::int64_t inside = 0;
  for (const auto& rows : queries.split(rows_at_once(centres.size(0)))) {
    inside += (torch::cdist(rows, centres) <= radius).any(1).sum().item<std::int64_t>();
  }
  return double(inside) / double(queries.size(0));
}

// The sum of k(x, y) over all pairs, without x = y where `a` and `b` are the same set.
double kernel_sum(const Tensor& a, const Tensor& b, bool same) {
  const auto kernel = [&a](const Tensor& products) {
    return (products / double(a.size(1)) + 1).pow(3);
  };
  double sum = 0;
  for (const auto& rows : a.split(rows_at_once(b.size(0)))) {
    sum += kernel(rows.matmul(b.t())).sum().item<double>();
  }
  if (same) sum -= kernel((a * a).sum(1)).sum().item<double>();
  return sum;
}

}  // namespace

FeatureStatistics::FeatureStatistics(Tensor mean, Tensor covariance, std::int64_t count)
    : count_(count), origin_(mean.to(torch::kDouble).clone()) {
  if (mean.dim() != 1 || covariance.dim() != 2 || covariance.size(0) != mean.size(0) ||
      covariance.size(1) != mean.size(0) || mean.size(0) < 1) {
    throw UsageError("a mean of shape {} and a covariance of shape {} do not belong together",
                     fmt::join(mean.sizes(), "x"), fmt::join(covariance.sizes(), "x"));
  }
  sum_ = torch::zeros_like(origin_);
  // An unknown count still describes a distribution: the products are then those of two vectors.
  products_ = covariance.to(torch::kDouble) * double(std::max<std::int64_t>(count, 2) - 1);
}

// Without a count there is nothing to weigh more pictures against.
void FeatureStatistics::check_growth() const {
  if (sum_.defined() && count_ == 0) {
    throw UsageError(
        "statistics from a file that does not say its number of pictures cannot be added to");
  }
}

void FeatureStatistics::add(const Tensor& features) {
  check_growth();
  if (features.dim() != 2 || (sum_.defined() && features.size(1) != dimension())) {
    throw UsageError("features of shape {} do not fit statistics of dimension {}",
                     fmt::join(features.sizes(), "x"), dimension());
  }
  if (features.size(0) == 0) return;
  const torch::NoGradGuard no_grad;
  const auto rows = features.to(torch::kCPU, torch::kDouble);
  if (!rows.isfinite().all().item<bool>()) {
    throw NonFiniteError("the network gave a feature that is not a finite number");
  }
  if (!sum_.defined()) {
    origin_ = rows.mean(0);
    sum_ = torch::zeros_like(origin_);
    products_ = torch::zeros({rows.size(1), rows.size(1)}, torch::kDouble);
  }
  const auto centred = rows - origin_;
  sum_ += centred.sum(0);
  products_.addmm_(centred.t(), centred);
  count_ += rows.size(0);
}

void FeatureStatistics::add(const FeatureStatistics& other) {
  if (!other.sum_.defined()) return;
  check_growth();
  other.check_growth();
  if (!sum_.defined()) {
    count_ = other.count_;
    origin_ = other.origin_.clone();
    sum_ = other.sum_.clone();
    products_ = other.products_.clone();
    return;
  }
  if (other.dimension() != dimension()) {
    throw UsageError("statistics of dimensions {} and {} cannot be joined", dimension(),
                     other.dimension());
  }
  // Moved to this origin: sum (x - o)(x - o)^T with x - o = (x - p) + d, d = p - o.
  const auto d = other.origin_ - origin_;
  const double n = double(other.count_);
  products_ += other.products_ + torch::outer(other.sum_, d) + torch::outer(d, other.sum_) +
               n * torch::outer(d, d);
  sum_ += other.sum_ + n * d;
  count_ += other.count_;
}

void FeatureStatistics::require(std::int64_t count) const {
  if (!sum_.defined() || (count_ != 0 && count_ < count)) {
    throw UsageError("statistics of {} pictures: at least {} are needed", count_, count);
  }
}

Tensor FeatureStatistics::mean() const {
  require(1);
  return count_ == 0 ? origin_ : origin_ + sum_ / double(count_);
}

Tensor FeatureStatistics::covariance() const {
  require(2);
  if (count_ == 0) return products_;
  const double n = double(count_);
  return (products_ - torch::outer(sum_, sum_) / n) / (n - 1);
}

double frechet_distance(const FeatureStatistics& a, const FeatureStatistics& b) {
  if (a.dimension() != b.dimension()) {
    throw UsageError("features of dimension {} and {} cannot be compared: they are of two networks",
                     a.dimension(), b.dimension());
  }
  const torch::NoGradGuard no_grad;
  const auto sa = a.covariance(), sb = b.covariance();
  const auto difference = a.mean() - b.mean();
  // tr (Sa Sb)^(1/2) = tr (Q Sb Q)^(1/2) with Q = Sa^(1/2): both factors are symmetric,
  // so no complex roots arise, and singular matrices (fewer pictures than features) need
  // no correction term.
  const auto [values, vectors] = torch::linalg_eigh(sa);
  const auto root = (vectors * root_of_eigenvalues(values)).matmul(vectors.t());
  const auto middle = root.matmul(sb).matmul(root);
  const auto trace = root_of_eigenvalues(torch::linalg_eigvalsh((middle + middle.t()) / 2)).sum();
  return (difference.dot(difference) + sa.trace() + sb.trace() - 2 * trace).item<double>();
}

double frechet_distance(const Tensor& a, const Tensor& b) {
  check_features(a, b, 2);
  const torch::NoGradGuard no_grad;
  const auto x = a.to(torch::kDouble), y = b.to(torch::kDouble);
  const auto difference = x.mean(0) - y.mean(0);
  const auto centred_x = (x - x.mean(0)) / std::sqrt(double(x.size(0) - 1));
  const auto centred_y = (y - y.mean(0)) / std::sqrt(double(y.size(0) - 1));
  // With Sa = X^T X and Sb = Y^T Y, Sa Sb has the eigenvalues of (X Y^T) (X Y^T)^T beside zeros.
  const auto product = centred_x.size(0) <= centred_y.size(0) ? centred_x.matmul(centred_y.t())
                                                              : centred_y.matmul(centred_x.t());
  const auto trace = root_of_eigenvalues(torch::linalg_eigvalsh(product.matmul(product.t()))).sum();
  return (difference.dot(difference) + centred_x.square().sum() + centred_y.square().sum() -
          2 * trace)
      .item<double>();
}

MeanDeviation inception_score(const Tensor& logits, std::int64_t splits) {
  if (logits.dim() != 2 || splits < 1 || logits.size(0) < splits) {
    throw UsageError("the Inception Score over {} parts needs at least as many pictures, not {}",
                     splits, logits.dim() == 2 ? logits.size(0) : 0);
  }
  const torch::NoGradGuard no_grad;
  const std::int64_t n = logits.size(0);
  std::vector<double> scores;
  for (std::int64_t s = 0; s < splits; ++s) {
    const auto part = logits.slice(0, s * n / splits, (s + 1) * n / splits).to(torch::kDouble);
    const auto log_p = torch::log_softmax(part, 1);
    const auto p = log_p.exp();
    const auto divergence = (p * (log_p - p.mean(0, true).log())).sum(1).mean();
    scores.push_back(std::exp(divergence.item<double>()));
  }
  const auto all = torch::tensor(scores, torch::kDouble);
  return {all.mean().item<double>(), all.std(/*unbiased=*/false).item<double>()};
}

PrecisionRecall precision_recall(const Tensor& reference, const Tensor& generated,
                                 std::int64_t neighbours) {
  if (neighbours < 1) throw UsageError("precision with {} neighbours: give at least 1", neighbours);
  check_features(reference, generated, neighbours + 1);
  const torch::NoGradGuard no_grad;
  const auto real = reference.to(torch::kFloat), fake = generated.to(torch::kFloat);
  return {share_inside(fake, real, neighbour_radius(real, neighbours)),
          share_inside(real, fake, neighbour_radius(fake, neighbours))};
}

double kernel_distance(const Tensor& a, const Tensor& b) {
  check_features(a, b, 2);
  const torch::NoGradGuard no_grad;
  const auto x = a.to(torch::kDouble), y = b.to(torch::kDouble);
  const double n = double(x.size(0)), m = double(y.size(0));
  return kernel_sum(x, x, true) / (n * (n - 1)) + kernel_sum(y, y, true) / (m * (m - 1)) -
         2 * kernel_sum(x, y, false) / (n * m);
}

}  // namespace addp
