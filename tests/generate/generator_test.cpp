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

}  // namespace
}  // namespace addp
