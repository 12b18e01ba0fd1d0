// How a filled-in part meets what is around it.
#include "generate/seam.h"

#include <gtest/gtest.h>

#include "image/draw/draw.h"

namespace addp {
namespace {

constexpr int kSide = 40;

GrayImage hidden_square(int from, int to) {
  GrayImage hidden(kSide, kSide);
  for (int y = from; y < to; ++y) {
    for (int x = from; x < to; ++x) hidden.row(y)[x] = 255;
  }
  return hidden;
}

TEST(Seam, DepthRisesFromTheEdgeInwards) {
  const auto depth = depth_of(hidden_square(10, 30), 3);
  const auto at = [&](int x, int y) {
    return depth[std::size_t(y) * std::size_t(kSide) + std::size_t(x)];
  };
  EXPECT_EQ(at(9, 20), 0);
  EXPECT_EQ(at(10, 20), 0.25F);
  EXPECT_EQ(at(12, 20), 0.75F);
  EXPECT_EQ(at(13, 20), 1);
  EXPECT_EQ(at(20, 20), 1);
  for (const float value : depth_of(hidden_square(0, kSide), 3)) ASSERT_EQ(value, 1);
}

TEST(Seam, AShiftInColourVanishesAtTheEdgeAndStaysInside) {
  const Image picture = make_canvas(kSide, kSide, {100, 150, 200});
  const Image shifted = make_canvas(kSide, kSide, {80, 160, 200});
  const GrayImage hidden = hidden_square(10, 30);
  Image made = shifted;
  match_surroundings(made, picture, hidden, 4);
  // One pixel inside, a fifth of the shift is left; from the reach on, all of it.
  EXPECT_EQ(made.at(10, 20)[0], 96);
  EXPECT_EQ(made.at(10, 20)[1], 152);
  EXPECT_EQ(made.at(10, 20)[2], 200);
  EXPECT_EQ(made.at(20, 20)[0], 80);
  EXPECT_EQ(made.at(14, 20)[0], 80);
  for (int x = 0; x < 10; ++x) EXPECT_EQ(made.at(x, 20)[0], 80) << "visible pixels are not touched";
}

TEST(Seam, EachEdgeIsMatchedByItsOwnSurroundings) {
  Image picture = make_canvas(kSide, kSide, {100, 100, 100});
  for (int y = 0; y < kSide; ++y) {
    for (int x = kSide / 2; x < kSide; ++x) picture.at(x, y)[0] = 140;
  }
  Image made = make_canvas(kSide, kSide, {120, 100, 100});
  match_surroundings(made, picture, hidden_square(10, 30), 8);
  EXPECT_LT(made.at(10, 20)[0], 108);
  EXPECT_GT(made.at(29, 20)[0], 132);
}

TEST(Seam, StaysWithinBytesAndLeavesAPictureThatIsAllHidden) {
  const Image bright = make_canvas(kSide, kSide, {255, 255, 255});
  Image made = make_canvas(kSide, kSide, {250, 0, 128});
  const Image before = made;
  match_surroundings(made, bright, hidden_square(0, kSide), 4);
  EXPECT_EQ(made, before);
  for (int y = 0; y < kSide; ++y) made.at(12, y)[0] = 255;
  match_surroundings(made, bright, hidden_square(10, 30), 4);
  EXPECT_EQ(made.at(12, 20)[0], 255);
}

}  // namespace
}  // namespace addp
