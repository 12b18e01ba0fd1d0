// Preparing a model for fast sampling: its bypass (diffusion/bypass.h) learns from its own
// trajectories; everything else of it stays frozen.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/json_text.h"
#include "diffusion/addp_file.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/layer/param_groups.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"
#include "stages/generative/make_stage.h"
#include "stages/generative/trajectory_feed.h"
#include "train/network_stage.h"

namespace addp {
namespace {

constexpr std::uint64_t kHeldOutSeed = 0x64697374696c;  // of trajectories that nothing learns from

std::vector<std::uint64_t> shown_numbers() {
  std::vector<std::uint64_t> numbers(kShownPictures);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

LoadedAddp open_teacher(const DistilOptions& options) {
  LoadedAddp model = load_addp(options.model, options.tokenizer);
  if (model.network->vit() == nullptr) {
    throw UsageError(
        "{}: its encoder is a ResNet, which has no patches to predict; --fast is for ViTs",
        options.model);
  }
  return model;
}

std::int64_t skipped_blocks(const DistilOptions& options, const AddpConfig& network) {
  const std::int64_t depth = network.encoder.vit.depth;
  const bool tokens = network.token_input == TokenInput::kEncoderAndDecoder;
  if (options.skip < 0) return tokens ? 0 : usual_bypass_skip(depth);
  if (options.skip >= depth || (tokens && options.skip > 0)) {
    throw UsageError("--skip {}: {}", options.skip,
                     tokens ? "tokens enter the first block of this encoder; give 0"
                            : fmt::format("the encoder has {} blocks; give fewer", depth));
  }
  return options.skip;
}

std::shared_ptr<Bypass> make_bypass(const DistilOptions& options, const LoadedAddp& model) {
  const AddpConfig& network = model.network->config();
  const std::int64_t encoder = network.encoder.width();
  auto bypass = on_device(std::make_shared<Bypass>(
      BypassConfig{.code_width = model.tokenizer->config().code_width,
                   .width = options.width > 0 ? options.width : usual_bypass_width(encoder),
                   .blocks = options.blocks,
                   .skip = skipped_blocks(options, network),
                   .encoder_width = encoder,
                   .grid = network.grid}));
  initialise_bypass(*bypass, initial_weights(options.train, "bypass"));
  return bypass;
}

std::int64_t known_classes(const LoadedAddp& model) {
  const auto found = model.provenance.find("classes");
  if (found == model.provenance.end() || !found->is_array()) return 0;
  return std::min(static_cast<std::int64_t>(found->size()),
                  model.network->config().vocabulary.classes());
}

// KL(p || q) in nats, the mean over all positions.
double divergence(const Tensor& p_logits, const Tensor& q_logits) {
  const Tensor p = p_logits.to(torch::kFloat32).log_softmax(-1),
               q = q_logits.to(torch::kFloat32).log_softmax(-1);
  return (p.exp() * (p - q)).sum(-1).mean().item<double>();
}

class DistilStage : public NetworkStage {
 public:
  DistilStage(const DistilOptions& options, World& world)
      : NetworkStage("distil", options.train, world, {"loss", false}),
        options_(options),
        model_(open_teacher(options)),
        network_(make_bypass(options, model_)),
        feed_(options, network_->config().skip, *model_.network, *model_.tokenizer,
              known_classes(model_), world) {
    check(options.sampler);
    // Of held-out trajectories, so that all processes begin alike.
    network_->start_on(feed_.run(kHeldOutSeed, shown_numbers()).encoded);
    model_.network->attach(network_);
    take_from(feed_);
    train_network(network_, decay_groups(*network_, options.train.weight_decay));
  }

  std::string command() const override { return "addp distil"; }

  // The states of the same held-out trajectories at every evaluation, and how far the tokens that
  // follow from the bypass are from those that follow from pixels.
  Metrics evaluate() override {
    torch::NoGradGuard guard;
    SamplerStep before;
    double kl = 0;
    const SamplerHooks hooks{.on_step = [&](const SamplerStep& step) {
      if (before.embeddings.defined()) kl += divergence_after(before, step.logits);
      before = step;
    }};
    const TrajectoryStates states = feed_.run(kHeldOutSeed, shown_numbers(), hooks);
    Metrics metrics{{"loss", unexplained(states).item<double>()}};
    // Guided logits are a mixture, which is not computed here.
    if (options_.sampler.guidance == 1) metrics["kl"] = kl / static_cast<double>(feed_.states());
    return metrics;
  }

  // The same pictures, sampled exactly and fast.
  std::vector<Panel> pictures() override {
    std::vector<Tensor> rows;
    for (const bool fast : {false, true}) {
      SamplerOptions sampler = options_.sampler;
      sampler.fast = fast;
      auto start = SamplerStart::nothing(kShownPictures, grid());
      start.classes = feed_.classes_of(kHeldOutSeed, shown_numbers());
      StreamNoise noise(kHeldOutSeed, shown_numbers());
      rows.push_back(generate(*model_.network, *model_.tokenizer, start, sampler, noise).pixels);
    }
    return {{"exact-and-fast", picture_rows(rows)}};
  }

  // The model with the bypass inside; what it said about itself stays, and says more.
  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    nlohmann::json all = model_.provenance;
    all["distilled"] = nlohmann::json::parse(provenance);
    all["distilled"].erase("data");  // there are none
    save_addp(path, *model_.network, *model_.tokenizer, json_text(all));
  }

  double activation_bytes() const override {
    const BypassConfig& c = network_->config();
    const double cells = pictures_at_once() * static_cast<double>(grid().area());
    // Two norms and two convolutions per block; the trajectories are kept beside it.
    return 4 * cells *
           (static_cast<double>(c.width) * static_cast<double>(4 * c.blocks + 3) +
            static_cast<double>((c.code_width + c.encoder_width) * feed_.states()));
  }

 private:
  const Grid& grid() const { return model_.network->config().grid; }

  Tensor unexplained(const TrajectoryStates& states) const {
    return network_->unexplained(network_->forward(states.embeddings, grid()), states.encoded);
  }

  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    const TrajectoryStates states = feed_.next();
    Bf16Scope scope(part.bf16);
    return {unexplained(states)};
  }

  // Of the logits that the bypass leads to from those that pixels led to.
  double divergence_after(const SamplerStep& state, const Tensor& exact) const {
    const Addp& addp = *model_.network;
    const ReliableTokens z_t{state.tokens, state.masked, grid(),
                             feed_.classes_of(kHeldOutSeed, shown_numbers())};
    const Tensor fast = addp.code_logits(addp.decode(addp.encode_fast(state.embeddings, z_t), z_t));
    return divergence(pick_rows(exact, positions_of(state.masked)), fast);
  }

  DistilOptions options_;
  LoadedAddp model_;
  std::shared_ptr<Bypass> network_;
  TrajectoryFeed feed_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(const DistilOptions& options, World& world) {
  return std::make_unique<DistilStage>(options, world);
}

}  // namespace addp
