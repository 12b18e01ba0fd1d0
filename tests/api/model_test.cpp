#include <gtest/gtest.h>

#include <stdexcept>

#include "addp/addp.h"
#include "support/fixtures.h"
#include "support/small_predictor.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ADDP_REQUIRE_FIXTURE(folder, "addp-mini");
    model_ = std::make_unique<Model>(folder / "addp.pth", folder / "vqgan.ckpt");
  }
  std::unique_ptr<Model> model_;
};

TEST_F(ModelTest, APictureDoesNotDependOnItsBatch) {
  GenerateRequest both{.count = 2, .steps = 2, .seed = 5};
  GenerateRequest second{.count = 1, .steps = 2, .seed = 5, .first_index = 1};
  const auto pictures = model_->generate(both);
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].width, model_->picture_size());
  const auto alone = model_->generate(second).front();
  // Rounding may differ by the size of a product's blocks, not by more than a grey level.
  int largest = 0;
  for (std::size_t i = 0; i < alone.rgb.size(); ++i) {
    largest = std::max(largest, std::abs(int(alone.rgb[i]) - int(pictures[1].rgb[i])));
  }
  EXPECT_LE(largest, 1);
  EXPECT_NE(pictures[0].rgb, pictures[1].rgb);
}

TEST_F(ModelTest, AnyMultipleOfATokenIsASize) {
  const int side = model_->picture_size();
  const Picture wide =
      model_->generate({.count = 1, .steps = 2, .width = 2 * side, .height = side / 2}).front();
  EXPECT_EQ(wide.width, 2 * side);
  EXPECT_EQ(wide.height, side / 2);
  // The trained size asked for by its number is the trained size.
  const Picture own = model_->generate({.count = 1, .steps = 2}).front();
  EXPECT_EQ(model_->generate({.count = 1, .steps = 2, .width = side, .height = side}).front().rgb,
            own.rgb);
  EXPECT_THROW(model_->generate({.width = side, .height = side + 1}), std::runtime_error);
  EXPECT_THROW(model_->generate({.width = side}), std::runtime_error);
}

TEST_F(ModelTest, CallbackSeesEveryStepAndCancels) {
  std::int64_t seen = 0;
  GenerateRequest request{.count = 1, .steps = 4};
  request.on_step = [&](std::int64_t step, std::int64_t steps,
                        const std::vector<Picture>& preview) {
    EXPECT_EQ(steps, 4);
    EXPECT_EQ(step, seen++);
    EXPECT_EQ(preview.size(), 1U);
    return step < 1;
  };
  EXPECT_THROW(model_->generate(request), std::runtime_error);
  EXPECT_EQ(seen, 2);
}

TEST_F(ModelTest, ReconstructsAndDescribesAnyPicture) {
  testing::TemporaryFolder folder;
  const Picture picture{30, 20, std::vector<std::uint8_t>(30 * 20 * 3, 100)};
  save_picture(folder.path() / "a.png", picture);
  const Picture loaded = load_picture(folder.path() / "a.png");
  EXPECT_EQ(loaded.rgb, picture.rgb);
  EXPECT_EQ(model_->reconstruct(loaded).width, model_->picture_size());
  EXPECT_FALSE(model_->features(loaded).empty());
  EXPECT_THROW(model_->reconstruct({3, 3, {}}), std::runtime_error);
}

TEST_F(ModelTest, FillsInHiddenPixelsAndNoOthers) {
  Picture picture{30, 20, std::vector<std::uint8_t>(30 * 20 * 3)};
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
    picture.rgb[i] = static_cast<std::uint8_t>(i * 7);
  }
  std::vector<std::uint8_t> hidden(30 * 20);
  std::fill(hidden.begin(), hidden.begin() + 150, std::uint8_t{1});  // the first five rows
  const GenerateRequest request{.count = 2, .steps = 2, .seed = 3};
  const auto variants = model_->fill_in(picture, hidden, request);
  ASSERT_EQ(variants.size(), 2U);
  std::size_t changed = 0;
  for (const Picture& variant : variants) {
    for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
      if (hidden[i / 3] == 0) {
        ASSERT_EQ(variant.rgb[i], picture.rgb[i]) << i;
      } else {
        changed += variant.rgb[i] != picture.rgb[i] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(changed, 0U);
  EXPECT_THROW(model_->fill_in(picture, {}, request), std::runtime_error);
}

TEST_F(ModelTest, ImpossibleRequestsAreRefused) {
  EXPECT_THROW(model_->generate({.count = 0}), std::runtime_error);
  EXPECT_THROW(model_->generate({.class_name = "cat"}), std::runtime_error);
  EXPECT_THROW(model_->generate({.guidance = 2}), std::runtime_error);
}

TEST(Model, APredictorGeneratesAndTellsItsSteps) {
  const testing::TemporaryFolder folder;
  testing::write_small_predictor(folder.path() / "model.safetensors", 3,
                                 R"({"classes": ["cat", "dog"]})");
  const Model model(folder.path());
  EXPECT_EQ(model.picture_size(), 32);
  std::vector<std::vector<std::uint8_t>> previews;
  GenerateRequest request{.count = 2, .steps = 3, .seed = 4, .class_name = "dog", .guidance = 2};
  request.on_step = [&](std::int64_t step, std::int64_t steps,
                        const std::vector<Picture>& preview) {
    EXPECT_EQ(step, static_cast<std::int64_t>(previews.size()));
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(preview.size(), 2U);
    previews.push_back(preview.at(1).rgb);
    return true;
  };
  const auto pictures = model.generate(request);
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[1].width, 32);
  ASSERT_EQ(previews.size(), 3U);
  EXPECT_NE(previews[0], previews[2]);
  EXPECT_EQ(previews[2], pictures[1].rgb) << "the last step is the result";

  request.on_step = [](std::int64_t, std::int64_t, const std::vector<Picture>&) { return false; };
  EXPECT_THROW(model.generate(request), std::runtime_error);
  // It has no encoder of pictures.
  EXPECT_THROW(model.features(pictures[0]), std::runtime_error);
  EXPECT_THROW(model.generate({.class_name = "bird"}), std::runtime_error);
}

TEST(Model, MissingFileIsNamed) {
  try {
    Model model("no-such-model.safetensors");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-model.safetensors"), std::string::npos);
  }
}

TEST_F(ModelTest, ManyPicturesAreMadeInSeveralBatchesAndTooManyAreRefused) {
  std::size_t most = 0, calls = 0;
  GenerateRequest request{.count = 35, .steps = 1, .seed = 3};
  request.on_step = [&](std::int64_t, std::int64_t, const std::vector<Picture>& preview) {
    most = std::max(most, preview.size());
    ++calls;
    return true;
  };
  EXPECT_EQ(model_->generate(request).size(), 35U);
  EXPECT_GT(calls, 1U);
  EXPECT_LT(most, 35U);
  request.count = std::int64_t{1} << 60;
  EXPECT_THROW(model_->generate(request), std::runtime_error);
}

}  // namespace
}  // namespace addp
