#include "heads/detect/boxes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "heads/detect/nms.h"
#include "heads/detect/roi_align.h"
#include "nn/torch.h"
#include "support/fixtures.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

Tensor random_tensor(std::vector<std::int64_t> shape, std::uint64_t seed) {
  const auto out = torch::empty(shape);
  RandomStream(seed, "test").fill_normal({out.data_ptr<float>(), std::size_t(out.numel())});
  return out;
}

Tensor random_boxes(std::int64_t count, std::uint64_t seed) {
  const auto corner = random_tensor({count, 2}, seed).abs() * 20;
  return torch::cat({corner, corner + 1 + random_tensor({count, 2}, seed + 1).abs() * 15}, 1);
}

#define REQUIRE_FIXTURE(variable)                                 \
  ADDP_REQUIRE_FIXTURE_FILE(boxes_file, "ops/boxes.safetensors"); \
  auto variable = testing::load_tensors(boxes_file)

// The first boxes against those that follow.
TEST(Boxes, IouEqualsTorchvision) {
  REQUIRE_FIXTURE(f);
  const auto rows = f["iou"].size(0), columns = f["iou"].size(1);
  const auto iou = box_iou(f["boxes"].slice(0, 0, rows), f["boxes"].slice(0, rows, rows + columns));
  EXPECT_LT(relative_error(iou, f["iou"]), 1e-5);
}

TEST(Boxes, NmsEqualsTorchvision) {
  REQUIRE_FIXTURE(f);
  int compared = 0;
  for (const auto& [name, kept] : f) {
    if (!name.starts_with("nms_") && !name.starts_with("batched_nms_")) continue;
    const double threshold = std::stod(name.substr(name.rfind('_') + 1));
    const auto ours = name.starts_with("nms_")
                          ? nms(f["boxes"], f["scores"], threshold)
                          : batched_nms(f["boxes"], f["scores"], f["classes"], threshold);
    EXPECT_TRUE(torch::equal(ours, kept)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

// "roi_align_aligned1_sampling2" at scale 0.25, 7x7 cells.
RoiAlignOptions options_of(const std::string& name, const Tensor& output) {
  RoiAlignOptions options;
  options.height = output.size(2);
  options.width = output.size(3);
  options.scale = 0.25;
  options.sampling = std::stoll(name.substr(name.find("sampling") + 8));
  return options;
}

TEST(Boxes, RoiAlignEqualsTorchvision) {
  REQUIRE_FIXTURE(f);
  int compared = 0;
  for (const auto& [name, expected] : f) {
    if (!name.starts_with("roi_align_aligned1")) continue;
    const auto ours = roi_align(f["feature"], f["rois"], options_of(name, expected));
    EXPECT_LT(relative_error(ours, expected), 1e-4) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

// The fixture's gradient is that of the sum of squares, with aligned corners and two samples.
TEST(Boxes, RoiAlignGradientEqualsTorchvision) {
  REQUIRE_FIXTURE(f);
  const std::string name = "roi_align_aligned1_sampling2";
  const auto x = f["feature"].clone().requires_grad_(true);
  roi_align(x, f["rois"], options_of(name, f[name])).pow(2).sum().backward();
  EXPECT_LT(relative_error(x.grad(), f["roi_align_grad"]), 1e-4);
}

// The layer is linear in the features: <roi_align(x), g> = <x, gradient for g>, for any
// layout and sampling.
TEST(Boxes, RoiAlignGradientIsTheTranspose) {
  for (const std::int64_t sampling : {0, 1, 3}) {
    const auto feature = random_tensor({2, 35, 9, 14}, 1).requires_grad_(true);
    const auto boxes = random_boxes(6, 3);
    const auto pictures = torch::tensor({0, 1, 0, 1, 1, 0}, torch::kFloat).unsqueeze(1);
    const RoiAlignOptions options{3, 5, 0.5, sampling};
    const auto out = roi_align(feature, torch::cat({pictures, boxes}, 1), options);
    const auto g = random_tensor(out.sizes().vec(), 7);
    (out * g).sum().backward();
    EXPECT_NEAR((out * g).sum().item<float>(), (feature * feature.grad()).sum().item<float>(),
                1e-3);
  }
}

TEST(Boxes, RoiAlignOfAFlatMapIsFlat) {
  const auto feature = torch::full({1, 4, 10, 12}, 2.5);
  const auto rois = torch::tensor({{0.0F, 1.0F, 2.0F, 9.0F, 8.0F}});
  const auto out = roi_align(feature, rois, {.height = 2, .width = 3, .scale = 1});
  EXPECT_TRUE(torch::allclose(out, torch::full({1, 4, 2, 3}, 2.5)));
  EXPECT_EQ(roi_align(feature, torch::zeros({0, 5}), {}).size(0), 0);
  // Far outside there is nothing.
  const auto outside = torch::tensor({{0.0F, 1e6F, 1e6F, 2e6F, 2e6F}});
  EXPECT_EQ(roi_align(feature, outside, {}).abs().max().item<float>(), 0);
}

TEST(Boxes, RoiAlignRefusesBadRegions) {
  const auto feature = torch::zeros({1, 4, 10, 12});
  EXPECT_THROW(roi_align(feature, torch::tensor({{1.0F, 0.0F, 0.0F, 5.0F, 5.0F}}), {}), UsageError);
  EXPECT_THROW(roi_align(feature, torch::tensor({{-1.0F, 0.0F, 0.0F, 5.0F, 5.0F}}), {}),
               UsageError);
  EXPECT_THROW(roi_align(feature, torch::full({1, 5}, NAN), {}), NonFiniteError);
  EXPECT_THROW(roi_align(feature, torch::zeros({3, 4}), {}), UsageError);
}

TEST(Boxes, NmsKeepsTheBestAndLeavesNoOverlap) {
  const auto boxes = random_boxes(300, 11);
  const auto scores = random_tensor({300}, 13);
  const auto kept = nms(boxes, scores, 0.4);
  ASSERT_GT(kept.size(0), 0);
  EXPECT_EQ(kept[0].item<std::int64_t>(), scores.argmax().item<std::int64_t>());
  const auto chosen = boxes.index_select(0, kept);
  const auto overlap = box_iou(chosen, chosen) - torch::eye(kept.size(0));
  EXPECT_LE(overlap.max().item<float>(), 0.4);
  // Whatever went overlaps a kept box.
  EXPECT_GT(std::get<0>((box_iou(boxes, chosen)).max(1)).min().item<float>(), 0.4);
  EXPECT_EQ(nms(torch::zeros({0, 4}), torch::zeros({0}), 0.5).size(0), 0);
  EXPECT_THROW(nms(boxes, torch::full({300}, NAN), 0.5), NonFiniteError);
}

TEST(Boxes, ClassesDoNotSuppressEachOther) {
  const auto box = torch::tensor({{0.0F, 0.0F, 9.0F, 9.0F}}).repeat({3, 1});
  const auto scores = torch::tensor({0.5F, 0.9F, 0.7F});
  EXPECT_TRUE(
      torch::equal(batched_nms(box, scores, torch::tensor({0, 1, 1}), 0.5), torch::tensor({1, 0})));
  EXPECT_TRUE(torch::equal(nms(box, scores, 0.5), torch::tensor({1})));
}

TEST(Boxes, CoderReversesItself) {
  const auto boxes = random_boxes(40, 17), anchors = random_boxes(40, 19);
  const BoxCoder coder{.weights = {10, 10, 5, 5}};
  const auto deltas = coder.encode(boxes, anchors);
  EXPECT_TRUE(torch::allclose(coder.decode(deltas, anchors).squeeze(1), boxes, 1e-4, 1e-3));
  EXPECT_TRUE(torch::allclose(coder.decode(torch::zeros({40, 8}), anchors).select(1, 1), anchors));
  const auto wild = coder.decode(torch::full({40, 4}, 1e4), anchors);
  EXPECT_TRUE(wild.isfinite().all().item<bool>());
}

TEST(Boxes, ClippingAndSizes) {
  const auto boxes = torch::tensor({{-5.0F, 2.0F, 30.0F, 9.0F}, {1.0F, 1.0F, 1.5F, 8.0F}});
  const auto clipped = clip_boxes(boxes, 8, 20);
  EXPECT_TRUE(torch::equal(clipped[0], torch::tensor({0.0F, 2.0F, 20.0F, 8.0F})));
  EXPECT_TRUE(torch::equal(boxes_of_size(clipped, 1), torch::tensor({0})));
  EXPECT_EQ(box_iou(torch::zeros({1, 4}), torch::zeros({1, 4})).item<float>(), 0);
  EXPECT_THROW(box_area(torch::zeros({4})), UsageError);
}

}  // namespace
}  // namespace addp
