#include "heads/detect/rpn.h"

#include "heads/detect/boxes.h"
#include "heads/detect/nms.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr double kRpnNms = 0.7, kRpnPositives = 0.5;

}  // namespace

Rpn::Rpn(const RpnConfig& config, std::int64_t channels) : config_(config) {
  for (std::int64_t i = 0; i < config.convs; ++i) {
    convs_.push_back(register_module(fmt::format("conv{}", i),
                                     std::make_shared<ConvNorm>(channels, channels, 3)));
  }
  const auto shapes = static_cast<std::int64_t>(config.ratios.size());
  score = register_module("score", std::make_shared<Conv2d>(channels, shapes, 1));
  delta = register_module("delta", std::make_shared<Conv2d>(channels, 4 * shapes, 1));
}

RpnOutput Rpn::forward(const std::vector<Tensor>& levels) const {
  RpnOutput out;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Tensor x = levels[i];
    for (const auto& conv : convs_) x = conv->forward(x);
    const std::int64_t batch = x.size(0), stride = config_.strides[i];
    out.anchors.push_back(grid_anchors({x.size(2), x.size(3)}, stride,
                                       config_.anchor_scale * static_cast<double>(stride),
                                       config_.ratios)
                              .to(x.device()));
    // [B, A * k, h, w] -> [B, h * w * A, k], the order of the anchors.
    const auto rows = [&](const Tensor& map, std::int64_t width) {
      return map.to(torch::kFloat32).permute({0, 2, 3, 1}).reshape({batch, -1, width});
    };
    out.logits.push_back(rows(score->forward(x), 1).squeeze(2));
    out.deltas.push_back(rows(delta->forward(x), 4));
  }
  return out;
}

RpnLoss rpn_loss(const RpnOutput& output, const std::vector<DetectionTarget>& targets,
                 std::int64_t anchors_per_picture, const RandomStream& stream,
                 std::int64_t first_picture) {
  const Tensor anchors = torch::cat(output.anchors), logits = torch::cat(output.logits, 1),
               deltas = torch::cat(output.deltas, 1);
  const BoxCoder coder;
  std::vector<Tensor> scores, wanted, errors;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto picture = static_cast<std::int64_t>(i);
    const Tensor matches = match_boxes(anchors, targets[i].boxes, {});
    const MatchSample sample =
        sample_matches(matches, anchors_per_picture, kRpnPositives,
                       stream.fork("anchors", static_cast<std::uint64_t>(first_picture) + i));
    scores.push_back(
        logits[picture].index_select(0, torch::cat({sample.positives, sample.negatives})));
    wanted.push_back(torch::cat(
        {torch::ones(sample.positives.size(0), logits.options().requires_grad(false)),
         torch::zeros(sample.negatives.size(0), logits.options().requires_grad(false))}));
    if (sample.positives.size(0) == 0) continue;
    const Tensor owners = matches.index_select(0, sample.positives);
    const Tensor target = coder.encode(targets[i].boxes.index_select(0, owners),
                                       anchors.index_select(0, sample.positives));
    errors.push_back((deltas[picture].index_select(0, sample.positives) - target).abs().sum());
  }
  const double count =
      static_cast<double>(anchors_per_picture) * static_cast<double>(targets.size());
  RpnLoss loss;
  loss.score = at::binary_cross_entropy_with_logits(torch::cat(scores), torch::cat(wanted), {}, {},
                                                    at::Reduction::Sum) /
               count;
  // Without a single thing the sum over nothing keeps the graph whole.
  loss.box = (errors.empty() ? deltas.sum() * 0 : torch::stack(errors).sum()) / count;
  return loss;
}

std::vector<Tensor> rpn_proposals(const RpnOutput& output, std::int64_t height, std::int64_t width,
                                  std::int64_t count) {
  torch::NoGradGuard no_grad;
  const BoxCoder coder;
  std::vector<Tensor> proposals;
  for (std::int64_t picture = 0; picture < output.logits[0].size(0); ++picture) {
    std::vector<Tensor> boxes, scores, levels;
    for (std::size_t level = 0; level < output.logits.size(); ++level) {
      const Tensor logits = output.logits[level][picture].detach();
      const auto [best, order] = logits.topk(std::min(2 * count, logits.size(0)));
      const Tensor decoded =
          coder.decode(output.deltas[level][picture].detach().index_select(0, order),
                       output.anchors[level].index_select(0, order));
      boxes.push_back(clip_boxes(decoded.squeeze(1), height, width));
      scores.push_back(best);
      levels.push_back(torch::full_like(order, static_cast<std::int64_t>(level)));
    }
    const Tensor all = torch::cat(boxes), all_scores = torch::cat(scores),
                 all_levels = torch::cat(levels);
    const Tensor usable = boxes_of_size(all, 1e-2);
    const Tensor chosen = all.index_select(0, usable);
    const Tensor kept = batched_nms(chosen, all_scores.index_select(0, usable),
                                    all_levels.index_select(0, usable), kRpnNms);
    proposals.push_back(chosen.index_select(0, kept.slice(0, 0, count)));
  }
  return proposals;
}

}  // namespace addp
