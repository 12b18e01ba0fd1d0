// Against Pillow and timm.
#include <gtest/gtest.h>

#include "image/augment/randaugment.h"
#include "image/fixture_pictures.h"
#include "image/resize/resize.h"

namespace addp {
namespace {

using testing::largest_difference;

struct Fixture {
  std::map<std::string, Image> pictures;
  nlohmann::json notes;
  const Image& source() const { return pictures.at("image"); }
};

#define REQUIRE_PICTURES(fixture)                                           \
  ADDP_REQUIRE_FIXTURE(ops_folder, "ops");                                  \
  const Fixture fixture {                                                   \
    testing::read_pictures(ops_folder / "pictures.safetensors"),            \
        nlohmann::json::parse(read_text_file(ops_folder / "pictures.json")) \
  }

TEST(PictureParity, Resize) {
  REQUIRE_PICTURES(fixture);
  int compared = 0;
  for (const auto& [name, expected] : fixture.pictures) {
    if (name.rfind("resize_", 0) != 0) continue;
    const bool bicubic = name.ends_with("bicubic");
    ASSERT_TRUE(bicubic || name.ends_with("bilinear")) << name;
    const Image ours = resize(fixture.source(), expected.width, expected.height,
                              bicubic ? Resample::kBicubic : Resample::kBilinear);
    EXPECT_EQ(largest_difference(ours, expected), 0) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST(PictureParity, CropBox) {
  REQUIRE_PICTURES(fixture);
  // Pillow's box (left, top, right, bottom) that the picture was made with.
  std::array<float, 4> box{13, 7, 101, 79};
  if (fixture.notes.contains("crop_box")) box = fixture.notes.at("crop_box").get<decltype(box)>();
  const Image& expected = fixture.pictures.at("crop_resize_bicubic");
  const Image ours = resize(fixture.source(), expected.width, expected.height, Resample::kBicubic,
                            {box[0], box[1], box[2], box[3]});
  EXPECT_EQ(largest_difference(ours, expected), 0);
}

// timm's names, in the order of AugmentOp.
constexpr std::array<const char*, kAugmentOps> kTimmNames{"AutoContrast",
                                                          "Equalize",
                                                          "Invert",
                                                          "Rotate",
                                                          "PosterizeIncreasing",
                                                          "SolarizeIncreasing",
                                                          "SolarizeAdd",
                                                          "ColorIncreasing",
                                                          "ContrastIncreasing",
                                                          "BrightnessIncreasing",
                                                          "SharpnessIncreasing",
                                                          "ShearX",
                                                          "ShearY",
                                                          "TranslateXRel",
                                                          "TranslateYRel"};

TEST(PictureParity, RandAugmentOperations) {
  REQUIRE_PICTURES(fixture);
  const auto& arguments = fixture.notes.at("randaugment_args_at_m9");
  AugmentGeometry geometry;
  geometry.fill = fixture.notes.at("fill").get<Color>();
  for (int i = 0; i < kAugmentOps; ++i) {
    const auto op = static_cast<AugmentOp>(i);
    const std::string name = kTimmNames[std::size_t(i)];
    const auto& given = arguments.at(name);
    const double ours = augment_argument(op, 9, false);
    EXPECT_NEAR(ours, given.empty() ? 0.0 : given.at(0).get<double>(), 1e-9) << name;
    const Image result = apply_augment(fixture.source(), op, ours, geometry);
    EXPECT_LE(largest_difference(result, fixture.pictures.at("ra_" + name)), 1) << name;
  }
}

}  // namespace
}  // namespace addp
