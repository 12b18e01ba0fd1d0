#include "nn/kernel/cross_entropy.h"

#include <gtest/gtest.h>

#include "machine/precision.h"
#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

// In double and by the definition.
std::pair<double, Tensor> by_definition(const Tensor& logits, const Tensor& target,
                                        double smoothing) {
  const Tensor x = logits.detach().to(torch::kFloat64).requires_grad_();
  const double classes = static_cast<double>(logits.size(1));
  const Tensor smooth = target.to(torch::kFloat64) * (1 - smoothing) + smoothing / classes;
  const Tensor loss = -(smooth * x.log_softmax(1)).sum(1).mean();
  loss.backward();
  return {loss.item<double>(), x.grad()};
}

struct LossCase {
  std::int64_t rows, classes, codes;
  double smoothing;
};

class CrossEntropy : public ::testing::TestWithParam<LossCase> {
 protected:
  void expect_both_modes(const SoftTarget& target, const Tensor& dense) {
    const auto [wanted, gradient] = by_definition(logits_, dense, GetParam().smoothing);
    for (const bool reference : {false, true}) {
      SCOPED_TRACE(reference ? "reference" : "fast");
      std::optional<ReferenceArithmetic> scope;
      if (reference) scope.emplace();
      Tensor x = logits_.clone().requires_grad_();
      const Tensor loss = smoothed_cross_entropy(x, target, GetParam().smoothing);
      EXPECT_NEAR(loss.item<double>(), wanted, 1e-5 * wanted);
      (3 * loss).backward();
      EXPECT_LT(relative_error(x.grad(), 3 * gradient), 1e-4);
    }
  }

  void SetUp() override {
    torch::manual_seed(4);
    const auto& [rows, classes, codes, smoothing] = GetParam();
    logits_ = 4 * torch::randn({rows, classes}) + 50;
    q_ = torch::randn({rows, codes}).softmax(1);
    labels_ = torch::randint(0, codes, {rows});
    soft_ = at::constant_pad_nd(q_, {0, classes - codes});
    hard_ = torch::one_hot(labels_, classes).to(torch::kFloat32);
  }

  Tensor logits_, q_, labels_, soft_, hard_;
};

TEST_P(CrossEntropy, Probabilities) { expect_both_modes({.probabilities = q_}, soft_); }
TEST_P(CrossEntropy, Labels) { expect_both_modes({.labels = labels_}, hard_); }
TEST_P(CrossEntropy, Both) {
  expect_both_modes({.probabilities = q_, .labels = labels_, .label_share = 0.25},
                    0.75 * soft_ + 0.25 * hard_);
}

// The logits of a bfloat16 product are read as they are, and their gradient is rounded only where
// it is written.
TEST_P(CrossEntropy, Bfloat16Logits) {
  const SoftTarget target{.probabilities = q_, .labels = labels_, .label_share = 0.25};
  Tensor x = logits_.to(torch::kBFloat16).requires_grad_();
  const auto [wanted, gradient] =
      by_definition(x.detach(), 0.75 * soft_ + 0.25 * hard_, GetParam().smoothing);
  const Tensor loss = smoothed_cross_entropy(x, target, GetParam().smoothing);
  EXPECT_EQ(loss.scalar_type(), torch::kFloat32);
  EXPECT_NEAR(loss.item<double>(), wanted, 1e-5 * wanted);
  loss.backward();
  ASSERT_EQ(x.grad().scalar_type(), torch::kBFloat16);
  EXPECT_LT(relative_error(x.grad(), gradient), 1.0 / 256);
}

TEST_P(CrossEntropy, NoLogitsComeBelowTheEntropyOfTheTarget) {
  const SoftTarget target{.probabilities = q_, .labels = labels_, .label_share = 0.25};
  const double smoothing = std::max(GetParam().smoothing, 0.01);  // no logarithm of zero
  const double lowest = lowest_cross_entropy(target, logits_.size(1), smoothing).item<double>();
  const Tensor best = (0.75 * soft_ + 0.25 * hard_) * (1 - smoothing) +
                      smoothing / static_cast<double>(logits_.size(1));
  EXPECT_NEAR(smoothed_cross_entropy(best.log(), target, smoothing).item<double>(), lowest,
              1e-5 * lowest);
  EXPECT_GT(smoothed_cross_entropy(logits_, target, smoothing).item<double>(), lowest);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CrossEntropy,
                         ::testing::Values(LossCase{5, 13, 13, 0}, LossCase{7, 29, 17, 0.1},
                                           LossCase{33, 2025, 1024, 0.1}, LossCase{1, 3, 2, 0.3}));

}  // namespace
}  // namespace addp
