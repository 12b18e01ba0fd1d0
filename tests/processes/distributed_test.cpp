#include "processes/distributed.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "nn/torch.h"
#include "processes/ranks.h"

namespace addp {
namespace {

using torch::Tensor;

int run_ranks(int count, const std::string& part) {
  return run_processes({.processes = count, .arguments = testing::play(part)});
}

// --- one process ---

TEST(World, OneProcessChangesNothing) {
  World world;
  EXPECT_EQ(world.size(), 1);
  EXPECT_TRUE(world.is_main());
  const Tensor values = torch::arange(6.);
  world.all_reduce_mean(values);
  world.all_reduce_sum(values);
  world.broadcast(values);
  world.barrier();
  EXPECT_TRUE(torch::equal(values, torch::arange(6.)));
  EXPECT_EQ(world.all_gather("me"), std::vector<std::string>{"me"});
  EXPECT_TRUE(world.any(true));
  EXPECT_FALSE(world.any(false));
  world.finish();

  const Tensor weight = torch::ones({3}, torch::requires_grad());
  GradientReducer reducer(world, {weight});
  reducer.backward((weight * 2).sum(), false);
  reducer.backward((weight * 2).sum());
  EXPECT_TRUE(torch::equal(weight.grad(), torch::full({3}, 4.)));
}

// --- collectives ---

TEST(DistributedPart, DISABLED_collectives) {
  World world(world_from_environment());
  const int rank = world.rank(), size = world.size();
  const Tensor sum = torch::arange(5, torch::kLong) + rank;
  world.all_reduce_sum(sum);
  EXPECT_TRUE(torch::equal(sum, torch::arange(5, torch::kLong) * size + size * (size - 1) / 2));

  Tensor strided = torch::zeros({4, 2});
  strided.fill_(rank);
  world.all_reduce_mean(strided.t()[0]);
  EXPECT_TRUE(torch::allclose(strided.select(1, 0), torch::full({4}, (size - 1) / 2.)));
  EXPECT_TRUE(torch::equal(strided.select(1, 1), torch::full({4}, float(rank))));

  const Tensor shared = torch::full({3}, float(rank));
  world.broadcast(shared, size - 1);
  EXPECT_TRUE(torch::equal(shared, torch::full({3}, float(size - 1))));
  const std::vector<Tensor> mixed = {torch::full({2, 2}, float(rank)),
                                     torch::full({3}, rank, torch::kLong),
                                     torch::full({2}, float(rank), torch::requires_grad())};
  world.broadcast(mixed);
  for (const auto& one : mixed) EXPECT_EQ(one.abs().max().item<double>(), 0);

  const auto texts = world.all_gather(std::string(static_cast<std::size_t>(rank), 'x'));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::string(i, 'x'));
  EXPECT_TRUE(world.any(rank == size - 1));
  EXPECT_FALSE(world.any(false));
  world.finish();
}
TEST(World, CollectivesOfThree) {
  EXPECT_EQ(run_ranks(3, "DistributedPart.DISABLED_collectives"), 0);
}

TEST(DistributedPart, DISABLED_slow_rank) {
  auto options = world_from_environment();
  options.lost_seconds = 2;
  World world(options);
  if (world.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(5));
  world.finish();
}
TEST(World, ARankThatComputesForLongIsNotLost) {
  EXPECT_EQ(run_ranks(2, "DistributedPart.DISABLED_slow_rank"), 0);
}

// --- gradients ---

// In double precision: sums of processes are in another order, and only errors shall show.
struct Net {
  Net() {
    // Alike on all ranks without any shared generator.
    double phase = 0;
    for (auto* parameter : {&first, &bias, &second}) {
      *parameter = torch::sin(torch::arange(parameter->numel(), torch::kDouble) * 0.7 + ++phase)
                       .view(parameter->sizes())
                       .set_requires_grad(true);
    }
  }
  Tensor loss(const Tensor& x, const Tensor& y) const {
    return (torch::tanh(x.matmul(first) + bias).matmul(second) - y).square().mean();
  }
  std::vector<Tensor> parameters() const { return {first, bias, second, unused}; }

  Tensor first = torch::empty({6, 16}), bias = torch::empty({16}), second = torch::empty({16, 3});
  Tensor unused = torch::ones({4}, torch::requires_grad());
};

struct Batch {
  Tensor x, y;
  explicit Batch(int step)
      : x(torch::cos(torch::arange(24 * 6, torch::kDouble) * 0.31 + step).view({24, 6})),
        y(torch::sin(torch::arange(24 * 3, torch::kDouble) * 0.17 - step).view({24, 3})) {}
  // Part `i` of `n` of the rows.
  Batch(const Batch& whole, int i, int n) : x(whole.x.chunk(n)[i]), y(whole.y.chunk(n)[i]) {}
};

void sgd(const Net& net) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : net.parameters()) {
    if (parameter.grad().defined()) parameter.sub_(parameter.grad() * 0.3);
    parameter.mutable_grad().reset();
  }
}

void expect_same_gradients(const Net& a, const Net& b) {
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    const Tensor mine = a.parameters()[i].grad(), other = b.parameters()[i].grad();
    ASSERT_EQ(mine.defined(), other.defined()) << i;
    if (!mine.defined()) continue;
    EXPECT_TRUE(torch::allclose(mine, other, 1e-10, 1e-12)) << i << mine - other;
  }
}

// Several steps of all ranks with a part of the batch each, split once more into two parts that
// accumulate, beside one process that takes the whole batch.
TEST(DistributedPart, DISABLED_gradients) {
  World world(world_from_environment());
  Net net, whole;
  GradientReducer reducer(world, net.parameters());
  for (int step = 0; step < 4; ++step) {
    const Batch batch(step), mine(batch, world.rank(), world.size());
    whole.loss(batch.x, batch.y).backward();
    if (step % 2 == 0) {
      reducer.backward(net.loss(mine.x, mine.y));
    } else {
      const Batch first(mine, 0, 2), second(mine, 1, 2);
      reducer.backward(net.loss(first.x, first.y) / 2, false);
      reducer.backward(net.loss(second.x, second.y) / 2);
    }
    expect_same_gradients(net, whole);
    EXPECT_FALSE(net.unused.grad().defined());
    sgd(net);
    sgd(whole);
  }
  // The weights of all ranks are the same bits.
  const Tensor weight = net.first.detach();
  const std::string bits(static_cast<const char*>(weight.data_ptr()), weight.nbytes());
  for (const auto& other : world.all_gather(bits)) EXPECT_EQ(other, bits);
  world.finish();
}
TEST(GradientReducer, TwoRanksEqualTwiceTheBatch) {
  EXPECT_EQ(run_ranks(2, "DistributedPart.DISABLED_gradients"), 0);
}
TEST(GradientReducer, ThreeRanksEqualThreeTimesTheBatch) {
  EXPECT_EQ(run_ranks(3, "DistributedPart.DISABLED_gradients"), 0);
}

// A parameter that one rank alone uses, in a step where it happens and in one where it does not.
TEST(DistributedPart, DISABLED_partly_used) {
  World world(world_from_environment());
  const Tensor common = torch::ones({4}, torch::requires_grad());
  const Tensor some = torch::ones({4}, torch::requires_grad());
  GradientReducer reducer(world, {common, some});
  for (int step = 0; step < 2; ++step) {
    Tensor loss = (common * 3).sum();
    if (step == 0 && world.rank() == 1) loss = loss + (some * 8).sum();
    reducer.backward(loss);
    EXPECT_TRUE(torch::allclose(common.grad(), torch::full({4}, 3.)));
    if (step == 0) {
      EXPECT_TRUE(torch::allclose(some.grad(), torch::full({4}, 8. / world.size())));
    }
    common.mutable_grad().reset();
    some.mutable_grad().reset();
  }
  EXPECT_FALSE(some.grad().defined());
  world.finish();
}
TEST(GradientReducer, ParametersThatOnlySomeRanksUse) {
  EXPECT_EQ(run_ranks(2, "DistributedPart.DISABLED_partly_used"), 0);
}

TEST(DistributedPart, DISABLED_error_in_backward) {
  World world(world_from_environment());
  const Tensor weight = torch::ones({4}, torch::requires_grad());
  GradientReducer reducer(world, {weight});
  EXPECT_THROW(reducer.backward(weight * 2), c10::Error);  // not a scalar: no matter of the network
  world.finish();
}
TEST(GradientReducer, OtherErrorsStayWhatTheyAre) {
  EXPECT_EQ(run_ranks(2, "DistributedPart.DISABLED_error_in_backward"), 0);
}

TEST(World, MeetingNobodyEndsWithASentence) {
  WorldOptions options;
  options.rank = 1;
  options.size = 2;
  options.port = testing::free_port();
  options.meeting_seconds = 1;
  try {
    World world(options);
    FAIL() << "met somebody";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1 of 2 could not meet"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace addp
