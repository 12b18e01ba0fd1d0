#include <gtest/gtest.h>

#include <stdexcept>

#include "addp/addp.h"
#include "support/fixtures.h"
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

TEST(Model, MissingFileIsNamed) {
  try {
    Model model("no-such-model.safetensors");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-model.safetensors"), std::string::npos);
  }
}

}  // namespace
}  // namespace addp
