// Batches of several clients' pictures.
#include "server/jobs/sampling_jobs.h"

#include <gtest/gtest.h>

#include "nn/torch.h"
#include "support/small_addp.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using namespace std::chrono_literals;

class SamplingJobs : public ::testing::Test {
 protected:
  SamplingJobs() {
    const testing::SmallAddp small = testing::make_small_addp();
    small.network->attach(testing::make_small_bypass(small));
    testing::write_small_addp(folder_.path() / "model.safetensors", small);
    model_.name = model_.kind = "addp";
    model_.generator = std::make_unique<Generator>(Generator::open(folder_.path()));
  }

  std::shared_ptr<MakeJob> job(std::uint64_t seed, std::int64_t count, bool fast = false) {
    GenerationPlan plan;
    plan.seed = seed;
    plan.count = count;
    plan.sampler.steps = 4;
    plan.sampler.fast = fast;
    return std::make_shared<MakeJob>(model_, plan, /*wants_steps=*/true);
  }

  struct Taken {
    std::int64_t steps = 0;
    std::vector<Image> pictures;
  };
  static Taken take(Job& job) {
    Taken taken;
    while (const auto event = job.next(0ms)) {
      if (const auto* made = std::get_if<MadePicture>(&*event)) {
        taken.pictures.push_back(made->image);
      } else {
        const auto& step = std::get<StepView>(*event);
        EXPECT_EQ(step.pixels.width, 32);
        ++taken.steps;
      }
    }
    return taken;
  }

  testing::TemporaryFolder folder_;
  HostedModel model_;
};

TEST_F(SamplingJobs, WhoLeavesASharedBatchIsComputedNoFurther) {
  const auto stays = job(1, 2), leaves = job(2, 3), also = job(3, 1);
  leaves->cancel();  // after the batch was made up
  stays->run({{stays, 0, 2}, {leaves, 0, 3}, {also, 0, 1}});
  const Taken kept = take(*stays), gone = take(*leaves), other = take(*also);
  EXPECT_EQ(gone.steps, 0);
  EXPECT_TRUE(gone.pictures.empty());
  EXPECT_EQ(kept.steps, 2 * 4);
  ASSERT_EQ(kept.pictures.size(), 2U);
  ASSERT_EQ(other.pictures.size(), 1U);
  const auto alone = job(3, 1);
  alone->run({{alone, 0, 1}});
  const Image once = take(*alone).pictures.front();
  for (std::size_t i = 0; i < once.pixels.size(); ++i) {
    ASSERT_NEAR(once.pixels[i], other.pictures.front().pixels[i], 1);
  }
}

TEST_F(SamplingJobs, FastPicturesAreABatchOfTheirOwnAndShowTheirSteps) {
  EXPECT_NE(job(1, 1)->key(), job(1, 1, true)->key());
  const auto fast = job(1, 1, true);
  fast->run({{fast, 0, 1}});
  const Taken taken = take(*fast);
  EXPECT_EQ(taken.steps, 4);
  EXPECT_EQ(taken.pictures.size(), 1U);
}

}  // namespace
}  // namespace addp
