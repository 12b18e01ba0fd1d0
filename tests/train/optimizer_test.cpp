#include "train/optimizer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "base/random.h"
#include "model/init.h"
#include "train/schedule.h"

namespace addp {
namespace {

// Two parameters, the second of one dimension, with gradients that change from step to step.
struct Problem {
  Tensor matrix = torch::empty({4, 3}), vector = torch::empty({5});

  Problem() {
    fill_normal(matrix, 1, RandomStream(1, "matrix"));
    fill_normal(vector, 1, RandomStream(1, "vector"));
    matrix.set_requires_grad(true);
    vector.set_requires_grad(true);
  }
  void set_gradients(std::uint64_t step) {
    matrix.mutable_grad() = torch::empty({4, 3});
    vector.mutable_grad() = torch::empty({5});
    fill_normal(matrix.mutable_grad(), 1, RandomStream(2, "matrix", step));
    fill_normal(vector.mutable_grad(), 1, RandomStream(2, "vector", step));
  }
  std::vector<ParamGroup> groups() const {
    return {{1.0, 0.05, {"matrix"}, {matrix}}, {0.5, 0.0, {"vector"}, {vector}}};
  }
};

TEST(Optimizer, AdamWEqualsTorch) {
  Problem ours, theirs;
  const auto optimizer = make_adamw(ours.groups(), {0.9, 0.95, 1e-8});
  using torch::optim::AdamWOptions;
  torch::optim::AdamW first({theirs.matrix},
                            AdamWOptions(0.1).betas({0.9, 0.95}).weight_decay(0.05));
  torch::optim::AdamW second({theirs.vector},
                             AdamWOptions(0.05).betas({0.9, 0.95}).weight_decay(0));
  for (std::uint64_t step = 0; step < 10; ++step) {
    ours.set_gradients(step);
    theirs.set_gradients(step);
    optimizer->step(0.1);
    first.step();
    second.step();
  }
  EXPECT_TRUE(torch::allclose(ours.matrix, theirs.matrix, 1e-6, 1e-7));
  EXPECT_TRUE(torch::allclose(ours.vector, theirs.vector, 1e-6, 1e-7));
}

TEST(Optimizer, StateContinuesExactly) {
  for (const bool adam : {true, false}) {
    Problem whole, split;
    const auto make = [&](const Problem& problem) {
      return adam ? make_adamw(problem.groups(), {}) : make_lars(problem.groups(), {});
    };
    const auto one = make(whole);
    for (std::uint64_t step = 0; step < 6; ++step) {
      whole.set_gradients(step);
      one->step(0.1);
    }
    TensorMap saved;
    {
      const auto before = make(split);
      for (std::uint64_t step = 0; step < 3; ++step) {
        split.set_gradients(step);
        before->step(0.1);
      }
      saved = before->state();
    }
    const auto after = make(split);
    after->load_state(saved, "saved");
    for (std::uint64_t step = 3; step < 6; ++step) {
      split.set_gradients(step);
      after->step(0.1);
    }
    EXPECT_TRUE(torch::equal(whole.matrix, split.matrix));
    EXPECT_TRUE(torch::equal(whole.vector, split.vector));
    saved.erase(saved.begin());
    EXPECT_THROW(after->load_state(saved, "saved"), DataError);
  }
}

TEST(Optimizer, LarsScalesMatricesByTheTrustRatio) {
  Problem problem;
  problem.set_gradients(0);
  const Tensor matrix = problem.matrix.detach().clone(), vector = problem.vector.detach().clone();
  const Tensor gradient = problem.matrix.grad() + 0.05 * matrix;
  const Tensor ratio = 0.001 * matrix.norm() / gradient.norm();
  make_lars(problem.groups(), {})->step(2.0);
  EXPECT_TRUE(torch::allclose(problem.matrix, matrix - 2.0 * ratio * gradient));
  EXPECT_TRUE(torch::allclose(problem.vector, vector - 1.0 * problem.vector.grad()));
}

TEST(Schedule, WarmsUpAndFallsAsACosine) {
  TrainOptions options;
  options.steps = 100;
  options.warmup_steps = 10;
  options.blr = 1e-3;
  options.batch_size = 512;
  options.min_lr = 1e-5;
  const Schedule schedule = make_schedule(options, 7);
  EXPECT_DOUBLE_EQ(schedule.at(0), 0);
  EXPECT_DOUBLE_EQ(schedule.at(5), 1e-3);
  EXPECT_DOUBLE_EQ(schedule.at(10), 2e-3);
  EXPECT_NEAR(schedule.at(55), (2e-3 + 1e-5) / 2, 1e-9);
  EXPECT_NEAR(schedule.at(100), 1e-5, 1e-12);
  options.steps = 0;
  EXPECT_THROW(make_schedule(options, 7), UsageError);
  options.epochs = 2;
  EXPECT_EQ(make_schedule(options, 7).total, 14);
}

}  // namespace
}  // namespace addp
