// A model opened for one precision against one that several threads may use.
#include "generate/generator.h"

#include <gtest/gtest.h>

#include "nn/torch.h"
#include "support/small_addp.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

GenerationPlan small_plan(bool bf16) {
  GenerationPlan plan;
  plan.seed = 3;
  plan.bf16 = bf16;
  plan.sampler.steps = 4;
  return plan;
}

TEST(Generator, OpenedForOnePrecisionMakesTheSamePictures) {
  const testing::TemporaryFolder folder;
  testing::write_small_addp(folder.path() / "model.safetensors", testing::make_small_addp());
  const Generator shared = Generator::open(folder.path());
  for (const bool bf16 : {false, true}) {
    const Generator own = Generator::open_for(bf16, folder.path());
    EXPECT_EQ(own.for_bf16(), bf16);
    const GenerationPlan plan = small_plan(bf16);
    const Tensor wanted = shared.sample({0, 5}, plan).pixels;
    for (int call = 0; call < 2; ++call) {  // weights come back from what is computed with
      EXPECT_TRUE(own.sample({0, 5}, plan).pixels.equal(wanted)) << "bf16: " << bf16;
    }
    EXPECT_THROW(own.sample({0}, small_plan(!bf16)), std::logic_error);
  }
}

// Weights stay laid out from batch to batch; after the first of so many steps nothing is reliable.
TEST(Generator, SeveralBatchesShareWhatIsLaidOut) {
  const testing::TemporaryFolder folder;
  testing::write_small_addp(folder.path() / "model.safetensors", testing::make_small_addp());
  const Generator shared = Generator::open(folder.path());
  for (const bool bf16 : {false, true}) {
    Generator own = Generator::open_for(bf16, folder.path());
    own.only_make();
    GenerationPlan plan = small_plan(bf16);
    plan.sampler.steps = 12;
    plan.count = 5;
    plan.batch = 2;
    const auto all = [&](const Generator& generator) {
      std::vector<Tensor> batches;
      generator.sample_all(plan,
                           [&](std::int64_t, const Tensor& made) { batches.push_back(made); });
      return torch::cat(batches);
    };
    EXPECT_TRUE(all(own).equal(all(shared))) << "bf16: " << bf16;
  }
}

}  // namespace
}  // namespace addp
