#include "heads/detect/detector.h"

#include "heads/detect/boxes.h"
#include "heads/detect/nms.h"
#include "heads/detect/roi_align.h"
#include "model/init.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr BoxCoder kRegionCoder{.weights = {10, 10, 5, 5}};

// Boxes with the number of their picture in front: [K, 5].
Tensor with_picture(const Tensor& boxes, std::size_t picture) {
  return torch::cat(
      {torch::full({boxes.size(0), 1}, static_cast<float>(picture), boxes.options()), boxes}, 1);
}

}  // namespace

RawDetections joined(const std::vector<RawDetections>& parts) {
  std::vector<Tensor> boxes, scores, labels, masks;
  for (const RawDetections& part : parts) {
    boxes.push_back(part.boxes);
    scores.push_back(part.scores);
    labels.push_back(part.labels);
    masks.push_back(part.masks);
  }
  return {torch::cat(boxes), torch::cat(scores), torch::cat(labels), torch::cat(masks)};
}

Detector::Detector(const DetectorConfig& config, std::shared_ptr<const Vqgan> tokenizer)
    : config_(config) {
  maps_ = register_module("maps", std::make_shared<Maps>(config.maps, std::move(tokenizer)));
  pyramid_ = make_pyramid(*maps_, config.rpn.strides, config.channels);
  register_module("pyramid", pyramid_);
  rpn_ = register_module("rpn", std::make_shared<Rpn>(config.rpn, config.channels));
  box_ = register_module("box",
                         std::make_shared<BoxHead>(config.roi, config.channels, config.classes()));
  mask_ = register_module(
      "mask", std::make_shared<MaskHead>(config.roi, config.channels, config.classes()));
}

void Detector::initialise_weights(const RandomStream& stream) {
  initialise_on_maps(*this, stream);
  // Small, so that no anchor and no class is preferred at first.
  constexpr double kScore = 0.01, kDelta = 0.001;
  fill_normal(rpn_->score->weight, kScore, stream.fork("rpn score"));
  fill_normal(rpn_->delta->weight, kScore, stream.fork("rpn delta"));
  fill_normal(box_->score->weight, kScore, stream.fork("box score"));
  fill_normal(box_->delta->weight, kDelta, stream.fork("box delta"));
}

// Boxes are cut out of the levels that have weights of their own: not of a repeated coarsest one.
RoiLevels Detector::roi_levels(const std::vector<Tensor>& levels) const {
  const std::int64_t last = maps_->strides().back();
  const std::int64_t coarsest = maps_->is_transformer() ? 2 * last : last;
  RoiLevels out;
  for (std::size_t i = 0; i < levels.size() && config_.rpn.strides[i] <= coarsest; ++i) {
    out.maps.push_back(levels[i]);
    out.strides.push_back(config_.rpn.strides[i]);
  }
  return out;
}

// What the second stage learns from: regions of all pictures, those that hold a thing first
// within each picture.
struct Detector::Regions {
  std::vector<Tensor> rois;       // [n, 5] of each picture
  std::vector<Tensor> labels;     // [n], the number of classes for background
  std::vector<Tensor> positives;  // rows among all regions that hold a thing
  std::vector<Tensor> owners;     // the box each of those belongs to
};

DetectorLosses Detector::losses(const Tensor& pixels, const std::vector<DetectionTarget>& targets,
                                const DetectorSampling& sampling, const RandomStream& stream,
                                DropoutKeys* keys, const DetectorShare& share) {
  const auto levels = pyramid_->forward(maps_->forward(pixels, keys));
  const RpnOutput rpn = rpn_->forward(levels);
  const RpnLoss first = rpn_loss(rpn, targets, sampling.anchors, stream.fork("rpn"), share.first);
  DetectorLosses losses{.rpn_score = first.score, .rpn_box = first.box};

  const auto proposals = rpn_proposals(rpn, pixels.size(2), pixels.size(3), config_.proposals);
  Regions regions;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    // The annotated boxes are proposals, too: there is something to learn from the first step on.
    const Tensor candidates = torch::cat({proposals[i], targets[i].boxes});
    const Tensor matches =
        match_boxes(candidates, targets[i].boxes, {.low = 0.5, .high = 0.5, .keep_best = false});
    const MatchSample sample =
        sample_matches(matches, sampling.regions, sampling.positive_share,
                       stream.fork("regions", static_cast<std::uint64_t>(share.first) + i));
    const Tensor chosen = torch::cat({sample.positives, sample.negatives});
    const Tensor owners = matches.index_select(0, sample.positives);
    regions.rois.push_back(with_picture(candidates.index_select(0, chosen), i));
    regions.labels.push_back(
        torch::cat({targets[i].labels.index_select(0, owners),
                    torch::full({sample.negatives.size(0)}, config_.classes(), owners.options())}));
    regions.positives.push_back(torch::arange(rows, rows + owners.size(0), owners.options()));
    regions.owners.push_back(owners);
    rows += chosen.size(0);
  }
  add_region_losses(roi_levels(levels), regions, targets, share, losses);
  return losses;
}

void Detector::add_region_losses(const RoiLevels& levels, const Regions& regions,
                                 const std::vector<DetectionTarget>& targets,
                                 const DetectorShare& share, DetectorLosses& losses) const {
  const Tensor rois = torch::cat(regions.rois), labels = torch::cat(regions.labels);
  const BoxHead::Output out =
      box_->forward(pool_regions(levels, rois, config_.roi.cells, config_.roi.level_scale));
  const Tensor positives = torch::cat(regions.positives);
  const std::int64_t count = positives.size(0);
  const double looked_at = std::max(share.mean_count(static_cast<double>(rois.size(0))), 1.0);
  const double held = share.mean_count(static_cast<double>(count));
  losses.score = at::cross_entropy_loss(out.logits, labels, {}, at::Reduction::Sum) / looked_at;
  if (count == 0) {
    losses.box = out.deltas.sum() * 0;
    losses.mask = losses.box;
    return;
  }
  std::vector<Tensor> boxes, masks;
  const std::int64_t side = 2 * config_.roi.mask_cells;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (regions.owners[i].size(0) == 0) continue;
    boxes.push_back(targets[i].boxes.index_select(0, regions.owners[i]));
    // The annotated mask inside the region, at the resolution of what the head gives.
    const Tensor places =
        torch::cat({regions.owners[i].to(torch::kFloat).unsqueeze(1),
                    regions.rois[i].slice(0, 0, regions.owners[i].size(0)).slice(1, 1)},
                   1);
    masks.push_back(roi_align(targets[i].masks.to(torch::kFloat).unsqueeze(1), places,
                              {.height = side, .width = side})
                        .squeeze(1) >= 0.5);
  }
  const Tensor things = rois.index_select(0, positives), kinds = labels.index_select(0, positives);
  const Tensor wanted = kRegionCoder.encode(torch::cat(boxes), things.slice(1, 1));
  const Tensor every = torch::arange(count, positives.options());
  const Tensor found =
      out.deltas.index_select(0, positives).view({count, -1, 4}).index({every, kinds});  // [P, 4]
  losses.box = (found - wanted).abs().sum() / looked_at;
  const Tensor logits =
      mask_->forward(pool_regions(levels, things, config_.roi.mask_cells, config_.roi.level_scale));
  losses.mask = at::binary_cross_entropy_with_logits(logits.index({every, kinds}),
                                                     torch::cat(masks).to(torch::kFloat), {}, {},
                                                     at::Reduction::Sum) /
                (held * static_cast<double>(side * side));
}

RawDetections Detector::finish(const RoiLevels& levels, std::int64_t picture,
                               const Tensor& proposals, const Tensor& pixels,
                               const DetectorLimits& limits) const {
  const Tensor rois = with_picture(proposals, static_cast<std::size_t>(picture));
  const BoxHead::Output out =
      box_->forward(pool_regions(levels, rois, config_.roi.cells, config_.roi.level_scale));
  const Tensor scores = out.logits.softmax(1).slice(1, 0, config_.classes());  // [K, C]
  const Tensor boxes = kRegionCoder.decode(out.deltas, proposals);             // [K, C, 4]
  const Tensor good = torch::nonzero(scores > limits.score);                   // [M, 2]
  const Tensor row = good.select(1, 0), kind = good.select(1, 1);
  const Tensor chosen = clip_boxes(boxes.index({row, kind}), pixels.size(2), pixels.size(3));
  const Tensor chosen_scores = scores.index({row, kind});
  const Tensor kept =
      batched_nms(chosen, chosen_scores, kind, limits.nms).slice(0, 0, limits.count);
  RawDetections found{chosen.index_select(0, kept),
                      chosen_scores.index_select(0, kept),
                      kind.index_select(0, kept),
                      {}};
  const Tensor logits = mask_->forward(
      pool_regions(levels, with_picture(found.boxes, static_cast<std::size_t>(picture)),
                   config_.roi.mask_cells, config_.roi.level_scale));
  found.masks = logits.index({torch::arange(kept.size(0), kept.options()), found.labels}).sigmoid();
  return found;
}

std::vector<RawDetections> Detector::detect(const Tensor& pixels, const DetectorLimits& limits) {
  torch::NoGradGuard no_grad;
  const auto levels = pyramid_->forward(maps_->forward(pixels));
  const auto proposals =
      rpn_proposals(rpn_->forward(levels), pixels.size(2), pixels.size(3), config_.proposals);
  const RoiLevels from = roi_levels(levels);
  std::vector<RawDetections> found;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    found.push_back(finish(from, static_cast<std::int64_t>(i), proposals[i], pixels, limits));
  }
  return found;
}

}  // namespace addp
