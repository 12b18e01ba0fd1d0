#include "heads/detect/detector.h"

#include <gtest/gtest.h>
#include <torch/optim/adamw.h>

#include "base/error.h"
#include "data/shapes/shapes.h"
#include "heads/detect/boxes.h"
#include "heads/detect/detect_picture.h"
#include "heads/detect/detector_file.h"
#include "heads/segment/segmenter_file.h"
#include "heads/small_heads.h"
#include "image/draw/draw.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "support/gradients.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::noise_pixels;
using testing::tiny_detector;
using testing::tiny_resnet;
using testing::tiny_vit;

DetectionTarget one_square(std::int64_t side) {
  DetectionTarget target{torch::tensor({{8.0F, 12.0F, 30.0F, 28.0F}}),
                         torch::zeros({1}, torch::kLong),
                         torch::zeros({1, side, side}, torch::kUInt8)};
  target.masks.slice(1, 12, 28).slice(2, 8, 30).fill_(1);
  return target;
}

DetectionTarget nothing(std::int64_t side) {
  return {torch::zeros({0, 4}), torch::zeros({0}, torch::kLong),
          torch::zeros({0, side, side}, torch::kUInt8)};
}

TEST(Anchors, CentresAndAreas) {
  const Tensor anchors = grid_anchors({2, 3}, 8, 24, {0.5, 1, 2});
  ASSERT_EQ(anchors.sizes(), (std::vector<std::int64_t>{18, 4}));
  EXPECT_TRUE(torch::allclose(box_area(anchors), torch::full({18}, 576.0)));
  const Tensor centres = (anchors.slice(1, 0, 2) + anchors.slice(1, 2, 4)) / 2;
  EXPECT_TRUE(torch::allclose(centres[4], torch::tensor({12.0F, 4.0F})));    // first row
  EXPECT_TRUE(torch::allclose(centres[17], torch::tensor({20.0F, 12.0F})));  // last
  const Tensor sides = anchors.slice(1, 2, 4) - anchors.slice(1, 0, 2);
  EXPECT_TRUE(torch::allclose(sides.select(1, 1) / sides.select(1, 0),
                              torch::tensor({0.5F, 1.0F, 2.0F}).repeat(6)));
}

TEST(Anchors, EveryBoxGetsAnAnchorAndThresholdsHold) {
  const Tensor anchors = grid_anchors({8, 8}, 8, 20, {0.5, 1, 2});
  const Tensor boxes = torch::tensor({{3.0F, 3.0F, 25.0F, 20.0F}, {40.0F, 40.0F, 44.0F, 44.0F}});
  const Tensor matches = match_boxes(anchors, boxes, {});
  const Tensor iou = box_iou(boxes, anchors), best = std::get<0>(iou.max(0));
  EXPECT_TRUE((matches == 0).any().item<bool>());
  EXPECT_TRUE((matches == 1).any().item<bool>());  // too small for any threshold: its best one
  EXPECT_TRUE((best.index({matches == kBackground}) < 0.3).all().item<bool>());
  EXPECT_TRUE((matches.index({best >= 0.7}) >= 0).all().item<bool>());
  EXPECT_TRUE((match_boxes(anchors, torch::zeros({0, 4}), {}) == kBackground).all().item<bool>());
}

TEST(Anchors, SamplesKeepTheirShares) {
  const Tensor matches =
      torch::cat({torch::zeros({50}, torch::kLong), torch::full({500}, kBackground, torch::kLong),
                  torch::full({30}, kBetween, torch::kLong)});
  const MatchSample sample = sample_matches(matches, 64, 0.25, RandomStream(1, "test"));
  EXPECT_EQ(sample.positives.size(0), 16);
  EXPECT_EQ(sample.negatives.size(0), 48);
  EXPECT_TRUE((matches.index_select(0, sample.positives) == 0).all().item<bool>());
  EXPECT_TRUE((matches.index_select(0, sample.negatives) == kBackground).all().item<bool>());
  const MatchSample again = sample_matches(matches, 64, 0.25, RandomStream(1, "test"));
  EXPECT_TRUE(torch::equal(sample.negatives, again.negatives));
}

TEST(RoiHeads, BoxesGoToTheLevelOfTheirSize) {
  const Tensor boxes = torch::tensor({{0.0F, 0.0F, 20.0F, 20.0F},
                                      {0.0F, 0.0F, 112.0F, 112.0F},
                                      {0.0F, 0.0F, 224.0F, 224.0F},
                                      {0.0F, 0.0F, 4000.0F, 4000.0F}});
  EXPECT_TRUE(torch::equal(level_of_boxes(boxes, {4, 8, 16, 32}, 14), torch::tensor({0, 1, 2, 3})));
}

TEST(RoiHeads, RegionsKeepTheirOrder) {
  RoiLevels levels;
  for (const std::int64_t stride : {4, 8}) {
    levels.maps.push_back(torch::full({1, 2, 64 / stride, 64 / stride}, double(stride)));
    levels.strides.push_back(stride);
  }
  const Tensor rois = torch::tensor({{0.0F, 0.0F, 0.0F, 40.0F, 40.0F},
                                     {0.0F, 0.0F, 0.0F, 10.0F, 10.0F},
                                     {0.0F, 8.0F, 8.0F, 60.0F, 60.0F}});
  const Tensor pooled = pool_regions(levels, rois, 2, 4);
  EXPECT_TRUE(torch::allclose(pooled.mean({1, 2, 3}), torch::tensor({8.0F, 4.0F, 8.0F})));
}

TEST(Detector, EveryParameterGetsAGradient) {
  for (const EncoderConfig& encoder : {tiny_vit(64, 8), tiny_resnet()}) {
    Detector detector(tiny_detector(encoder, 64));
    detector.initialise_weights(RandomStream(1, "test"));
    // All anchors count, so that the coarsest level is among them.
    const DetectorSampling everything{100'000, 32, 0.5};
    const DetectorLosses losses =
        detector.losses(noise_pixels(2, 64, 64), {one_square(64), nothing(64)}, everything,
                        RandomStream(2, "step"), nullptr);
    EXPECT_TRUE(losses.total().isfinite().item<bool>());
    losses.total().backward();
    testing::expect_gradients(detector, testing::kDroppedOnMaps);
  }
}

TEST(Detector, APictureWithoutThingsHasALoss) {
  Detector detector(tiny_detector(tiny_vit(64, 8), 64));
  detector.initialise_weights(RandomStream(1, "test"));
  const DetectorLosses losses = detector.losses(noise_pixels(1, 64, 64), {nothing(64)},
                                                {64, 32, 0.5}, RandomStream(2, "s"), nullptr);
  losses.total().backward();
  EXPECT_EQ(losses.box.item<double>(), 0);
  EXPECT_EQ(losses.mask.item<double>(), 0);
  EXPECT_GT(losses.score.item<double>(), 0);
}

TEST(Detector, FilesGiveTheSameNetworkBack) {
  const testing::TemporaryFolder folder;
  Detector detector(tiny_detector(tiny_vit(64, 8), 64));
  detector.initialise_weights(RandomStream(1, "test"));
  detector.eval();
  save_detector(folder.path() / "d.safetensors", detector, "{}");
  const auto again = load_detector(folder.path() / "d.safetensors");
  EXPECT_EQ(again->config().category_ids, detector.config().category_ids);
  EXPECT_EQ(again->config().proposals, 50);
  const Tensor pixels = noise_pixels(1, 64, 64);
  const DetectorLimits all{.score = 0, .nms = 0.5, .count = 10};
  EXPECT_TRUE(again->detect(pixels, all)[0].boxes.equal(detector.detect(pixels, all)[0].boxes));
  EXPECT_THROW(load_segmenter(folder.path() / "d.safetensors"), DataError);
}

// A picture of four times the window, the same at the same place of every quarter: what is found in
// one of them must be found in all, once.
TEST(Detector, AMagnifiedPictureIsSeenInWindows) {
  DetectorConfig config = tiny_detector(tiny_vit(64, 8), 64);
  config.magnify = 1;
  Detector detector(config);
  detector.initialise_weights(RandomStream(1, "test"));
  detector.eval();
  const DetectorLimits limits{.score = 0.05, .nms = 0.5, .count = 1000};
  const Image window = draw_shapes({.size = 64, .objects = 3}, "train", 0).image;
  // One window is the network's own answer.
  const Tensor pixels = normalise_pixels(to_tensor(window).unsqueeze(0));
  const auto alone = to_picture(detector.detect(pixels, limits)[0], 64, 64, window);
  const auto seen = detect_picture(detector, window, limits);
  ASSERT_EQ(seen.size(), alone.size());
  ASSERT_FALSE(seen.empty());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].box, alone[i].box);
  // More of them reach the far corner, and nothing is there twice.
  Image large = make_canvas(150, 130, {0, 0, 0});
  paste(large, window, 0, 0);
  paste(large, window, 150 - 64, 130 - 64);
  std::vector<float> corners;
  for (const Detection& found : detect_picture(detector, large, limits)) {
    EXPECT_EQ(found.mask.width, 150);
    if (found.class_id != 0) continue;
    const CocoBox& box = found.box;
    for (const double edge : {box.x, box.y, box.x + box.width, box.y + box.height}) {
      corners.push_back(static_cast<float>(edge));
    }
  }
  const Tensor boxes = torch::tensor(corners).view({-1, 4});
  ASSERT_GT(boxes.size(0), 1);
  EXPECT_GT(boxes.select(1, 2).max().item<float>(), 150 - 32);
  EXPECT_GT(boxes.select(1, 3).max().item<float>(), 130 - 32);
  const Tensor others = box_iou(boxes, boxes) - torch::eye(boxes.size(0));
  EXPECT_LE(others.max().item<float>(), 0.501F);
}

// The loop over pairs against the matrix of all pairs.
TEST(Detector, MatchesAreThoseOfTheMatrix) {
  torch::manual_seed(3);
  const auto boxes_of = [](std::int64_t count) {
    const Tensor corner = torch::rand({count, 2}) * 60, size = torch::rand({count, 2}) * 20;
    return torch::cat({corner, corner + size}, 1);
  };
  const Tensor boxes = boxes_of(7);
  const Tensor candidates = torch::cat({boxes_of(9000), boxes, torch::zeros({3, 4})});
  const Tensor iou = box_iou(boxes, candidates);
  const auto [best, owner] = iou.max(0);
  Tensor wanted = torch::where(best < 0.7, torch::full_like(owner, kBetween), owner);
  wanted.masked_fill_(best < 0.3, kBackground);
  EXPECT_TRUE(match_boxes(candidates, boxes, {.keep_best = false}).equal(wanted));
  const Tensor highest = std::get<0>(iou.max(1, true));
  const Tensor chosen = ((iou == highest) & (highest > 0)).any(0);
  EXPECT_TRUE(match_boxes(candidates, boxes, {}).equal(torch::where(chosen, owner, wanted)));
}

TEST(Detector, MasksArePastedWhereTheBoxIs) {
  const Rle whole = paste_mask(torch::ones({14, 14}), {4, 6, 10, 8}, 32, 24);
  EXPECT_EQ(rle_bounds(whole), (CocoBox{4, 6, 10, 8}));
  EXPECT_EQ(rle_area(whole), 80);
  Tensor half = torch::zeros({14, 14});
  half.slice(1, 0, 7).fill_(1);
  EXPECT_NEAR(static_cast<double>(rle_area(paste_mask(half, {4, 6, 10, 8}, 32, 24))), 40, 8);
  // Beyond the edge there is nothing to paint on.
  EXPECT_EQ(rle_area(paste_mask(torch::ones({14, 14}), {-4, -4, 8, 8}, 32, 24)), 16);
}

TEST(Detector, MasksKeepTheirShapeAtTheEdgeOfThePicture) {
  // A picture of 40 x 20 in the upper half of a square of 32. The box reaches down into the empty
  // part; the upper half of its mask, which is all that is seen, is set on the left.
  const Image picture(40, 20);
  Tensor mask = torch::zeros({1, 14, 14});
  mask.slice(1, 0, 7).slice(2, 0, 7).fill_(1);
  const RawDetections found{torch::tensor({{0.0F, 0.0F, 32.0F, 32.0F}, {0.0F, 20.0F, 8.0F, 30.0F}}),
                            torch::tensor({0.9F, 0.8F}), torch::tensor({3, 4}, torch::kLong),
                            torch::cat({mask, mask})};
  const auto detections = to_picture(found, 32, 16, picture);
  ASSERT_EQ(detections.size(), 1U);  // the other one lies below the picture
  EXPECT_EQ(detections[0].class_id, 3);
  EXPECT_EQ(detections[0].box, (CocoBox{0, 0, 40, 20}));
  EXPECT_EQ(rle_bounds(detections[0].mask), (CocoBox{0, 0, 20, 20}));
}

TEST(Detector, LearnsAHandfulByHeart) {
  DetectorConfig config = tiny_detector(tiny_vit(64, 8), 64);
  config.class_names.assign(8, "shape");
  config.category_ids = {1, 2, 3, 4, 5, 6, 7, 8};
  Detector detector(config);
  detector.initialise_weights(RandomStream(1, "test"));
  std::vector<Image> pictures;
  std::vector<DetectionTarget> targets;
  for (std::int64_t i = 0; i < 2; ++i) {
    const ShapesPicture made = draw_shapes({.size = 64, .objects = 1}, "train", i);
    pictures.push_back(made.image);
    targets.push_back(target_of(made.instances, 64, 64));
  }
  const Tensor pixels = normalise_pixels(to_tensor(pictures));
  torch::optim::AdamW optimizer(detector.parameters(), torch::optim::AdamWOptions(2e-3));
  for (std::uint64_t step = 0; step < 120; ++step) {
    optimizer.zero_grad();
    detector.losses(pixels, targets, {64, 32, 0.5}, RandomStream(1, "step", step), nullptr)
        .total()
        .backward();
    optimizer.step();
  }
  detector.eval();
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const auto found = detect_picture(detector, pictures[i]);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].class_id, targets[i].labels[0].item<std::int64_t>());
    const Tensor box =
        torch::tensor({{found[0].box.x, found[0].box.y, found[0].box.x + found[0].box.width,
                        found[0].box.y + found[0].box.height}},
                      torch::kFloat);
    EXPECT_GT(box_iou(box, targets[i].boxes.slice(0, 0, 1)).item<float>(), 0.6F);
  }
}

}  // namespace
}  // namespace addp
