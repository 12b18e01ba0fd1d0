// Training that goes on from a trained network.
#include "train/start_from.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "diffusion/addp_file.h"
#include "nn/torch.h"
#include "stages/generative/make_stage.h"
#include "support/small_addp.h"
#include "support/small_predictor.h"
#include "support/small_run.h"
#include "support/temporary_folder.h"
#include "train/trainer.h"

namespace addp {
namespace {

class StartFrom : public ::testing::Test {
 protected:
  StartFrom() { tokens_.tokenizer = testing::write_small_tokenizer(folder_.path()); }

  template <class Options>
  Options options(const std::string& out, double lr) {
    Options options;
    testing::set_small_run(options.train, folder_.path() / out, 1);
    options.train.lr = options.train.min_lr = lr;
    options.train.weight_decay = 0;
    options.train.save_every = 1;
    options.tokens = tokens_;
    options.network.preset = "nano";
    options.class_ids = 1;
    return options;
  }

  template <class Options>
  void run(const Options& options) {
    World world;
    const auto stage = make_stage(options, world);
    train(*stage, options.train, world, {false, "addp train", ""});
  }

  TokenOptions tokens_;
  testing::TemporaryFolder folder_;
};

void expect_equal(const torch::nn::Module& a, const torch::nn::Module& b) {
  const auto others = b.named_parameters();
  for (const auto& item : a.named_parameters()) {
    EXPECT_TRUE(torch::allclose(item.value(), others[item.key()], 0, 1e-6)) << item.key();
  }
}

TEST_F(StartFrom, APredictorBeginsWithTheWeightsOfAnother) {
  run(options<PredictorTrainOptions>("first", 1e-2));
  auto further = options<PredictorTrainOptions>("second", 1e-12);  // nothing moves
  further.network.start = folder_.path() / "first";
  further.train.seed = 7;
  run(further);
  expect_equal(*load_predictor(folder_.path() / "first"),
               *load_predictor(folder_.path() / "second"));
}

TEST_F(StartFrom, AddpLeavesTheBypassOfFastSamplingBehind) {
  testing::SmallAddp trained = testing::make_small_addp();
  trained.network->attach(testing::make_small_bypass(trained));
  testing::write_small_addp(folder_.path() / "addp.safetensors", trained);
  run(options<PredictorTrainOptions>("predictor", 1e-3));
  auto further = options<AddpTrainOptions>("second", 1e-12);
  further.predictor = folder_.path() / "predictor";
  further.network.depth = further.network.decoder_depth = 1;
  further.network.start = folder_.path() / "addp.safetensors";
  run(further);
  const auto made = load_addp(folder_.path() / "second").network;
  expect_equal(*made, *trained.network);
  EXPECT_LT(made->named_parameters().size(), trained.network->named_parameters().size());
}

TEST_F(StartFrom, OtherSizesAreRefusedByName) {
  run(options<PredictorTrainOptions>("first", 1e-3));
  auto other = options<PredictorTrainOptions>("second", 1e-3);
  other.network.start = folder_.path() / "first";
  other.network.width = 64;
  World world;
  try {
    make_stage(other, world);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("first: cannot start from it: its '"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace addp
