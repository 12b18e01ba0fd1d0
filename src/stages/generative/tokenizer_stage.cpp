// Training a VQ tokenizer: reconstruction, LPIPS, codebook losses, a patch discriminator with an
// adaptive weight (Esser et al. 2021), and restarts of dead codes.
#include <algorithm>
#include <bit>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "eval/generation/lpips.h"
#include "eval/generation/picture_metrics.h"
#include "feed/picture_feed.h"
#include "image/draw/draw.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "model/init.h"
#include "model/load.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "stages/generative/adversary.h"
#include "stages/generative/codebook_health.h"
#include "stages/generative/make_stage.h"
#include "stages/generative/texture_distance.h"
#include "tokenizer/vqgan.h"
#include "tokenizer/vqgan_file.h"
#include "weights/find_weights.h"

namespace addp {
namespace {

constexpr std::int64_t kStartPictures = 64;

FeedOptions feed_options(const TokenizerTrainOptions& options, const World& world) {
  FeedOptions feed = FeedOptions::from(options.train, world);
  feed.crop = options.crop;
  feed.turn = options.turn;
  return feed;
}

std::optional<Lpips> open_lpips(const TokenizerTrainOptions& options) {
  if (options.perceptual <= 0 || options.train.size < kLpipsMinSide) return {};
  const auto path = find_weights("lpips", options.lpips);
  if (!path) {
    warn(
        "no LPIPS weights here: the tokenizer is trained without the perceptual loss; name a file "
        "with --lpips, or set ADDP_WEIGHTS to a folder with lpips*.safetensors");
    return {};
  }
  return Lpips::open(*path);
}

// The part of pictures that LPIPS looks at in a step, and how much it is enlarged: the same of a
// picture and of its reconstruction. The first layer sees every fourth pixel's surroundings. Where
// it always sees the same ones, the decoder learns to please it there with a lattice of dots, so
// the part moves. What is finer than those surroundings it sees in an enlargement only, whose part
// is so much smaller that it costs about the same.
struct Window {
  std::int64_t top, left, height, width, zoom;

  Window(const Tensor& pixels, std::int64_t most, RandomStream stream) {
    zoom = 1;
    for (auto doubled = stream.integer(0, std::bit_width(std::uint64_t(most)) - 1); doubled > 0;
         --doubled) {
      zoom *= 2;
    }
    const auto side = [&](std::int64_t whole) {
      const std::int64_t part = std::min(whole - kLpipsStride + 1, 2 * whole / zoom);
      return part * zoom < kLpipsMinSide ? whole : part;
    };
    height = side(pixels.size(2));
    width = side(pixels.size(3));
    top = stream.integer(0, pixels.size(2) - height);
    left = stream.integer(0, pixels.size(3) - width);
  }

  Tensor of(const Tensor& pixels) const {
    const Tensor part = pixels.slice(2, top, top + height).slice(3, left, left + width);
    if (zoom == 1) return part;
    return at::upsample_bilinear2d(part, {zoom * height, zoom * width}, /*align_corners=*/false);
  }
};

std::shared_ptr<Vqgan> make_network(const TokenizerTrainOptions& options) {
  if (options.start.empty()) {
    if (!options.train_encoder) {
      throw UsageError("--no-train-encoder needs a trained tokenizer: name it with --start");
    }
    check(options.network);
    return on_device(std::make_shared<Vqgan>(options.network));
  }
  std::shared_ptr<Vqgan> network = load_tokenizer(options.start);
  VqganConfig ending = network->config();
  if (ending.finish == 0) ending.finish = options.network.finish;
  ending.half_chroma |= options.network.half_chroma;
  if (ending != network->config()) {
    network = with_ending(*network, ending, initial_weights(options.train, "tokenizer"));
  }
  network->train();
  for (const auto& item : network->named_parameters()) {
    item.value().set_requires_grad(options.train_encoder || item.key().starts_with("decoder."));
  }
  return network;
}

class TokenizerStage : public Stage {
 public:
  TokenizerStage(const TokenizerTrainOptions& options, World& world)
      : options_(options),
        world_(world),
        feed_(feed_options(options, world)),
        network_(make_network(options)),
        lpips_(open_lpips(options)),
        health_(network_->config().codes) {
    options_.network = network_->config();
    const LearnerOptions learner_options{options.train.clip, options.train.ema};
    const AdamWOptions adam{options.train.beta1, options.train.beta2};
    if (options.start.empty()) {
      initialise_vqgan(*network_, initial_weights(options.train, "tokenizer"));
      network_->start_codes_on(feed_.training_pictures(kStartPictures));
    }
    generator_learner_ = std::make_unique<Learner>(
        "tokenizer", make_adamw(decay_groups(*network_, options.train.weight_decay), adam),
        learner_options, world);
    if (options.adversarial > 0) {
      adversary_ = std::make_unique<Adversary>(options_, lpips_.has_value(), world);
    }
  }

  std::string name() const override { return "tokenizer"; }

  std::vector<Learner*> learners() override {
    std::vector<Learner*> all{generator_learner_.get()};
    if (adversary_) all.push_back(&adversary_->learner());
    return all;
  }

  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }

  Metrics step(const StepContext& context) override {
    const bool adversarial = adversary_ && context.step >= options_.adversarial_start;
    const auto parts = static_cast<std::int64_t>(options_.train.accumulate);
    Metrics metrics;
    Tensor latent, counts = torch::zeros_like(health_.counts());
    for (std::int64_t part = 0; part < parts; ++part) {
      const double share = 1.0 / static_cast<double>(parts);
      const bool last = part + 1 == parts;
      const Tensor pixels = feed_.next().pixels;
      Bf16Scope scope(context.bf16);
      Reconstruction made =
          reconstruct(pixels, context.stream.fork("shift", static_cast<std::uint64_t>(part)));
      Tensor loss = made.loss;
      if (adversarial) {
        const Tensor last_weights = network_->named_parameters()["decoder.conv_out.weight"];
        loss = loss + adversary_->term(made.real, made.made, loss, last_weights, made.metrics);
      }
      generator_learner_->backward(loss, share, last);
      if (adversarial) {
        adversary_->learn(made.real, made.made, context.step, share, last, made.metrics);
      }
      for (const auto& [name, value] : made.metrics) metrics[name] += value * share;
      latent = made.latent;
      counts += made.counts;
    }
    world_.all_reduce_sum(counts);
    health_.add(counts);
    metrics["gradient"] = generator_learner_->update(context.lr);
    if (adversarial) adversary_->learner().update(context.lr * options_.discriminator_lr);
    rescue_codes(context, latent, metrics);
    return metrics;
  }

  Metrics evaluate() override {
    torch::NoGradGuard guard;
    const Tensor pixels = feed_.validation_pictures(kValidationPictures);
    const Tensor ids = network_->encode(pixels);
    const Tensor made = network_->decode_ids(ids, network_->grid_of(pixels)).clamp(0, 1);
    Metrics metrics{{"l1", (made - pixels).abs().mean().item<double>()},
                    {"psnr", psnr(made, pixels).mean().item<double>()}};
    if (lpips_) metrics["lpips"] = (*lpips_)(pixels * 2 - 1, made * 2 - 1).mean().item<double>();
    return metrics;
  }

  std::vector<Panel> pictures() override {
    torch::NoGradGuard guard;
    const Tensor pixels = feed_.validation_pictures(kShownPictures);
    const Tensor made = network_->decode_ids(network_->encode(pixels), network_->grid_of(pixels));
    return {{"reconstructions", picture_rows({pixels, made})}};
  }

  std::pair<std::string, bool> best_figure() const override { return {"psnr", true}; }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_tokenizer(path, *network_, provenance);
  }

  TensorMap state() const override {
    TensorMap tensors = state_of(*network_, {}, "tokenizer.model.");
    if (adversary_) tensors.merge(adversary_->state());
    tensors["codebook.counts"] = to_view(health_.counts());
    return tensors;
  }

  void load_state(const TensorMap& tensors, const std::string& source) override {
    load_strictly(*network_, tensors, {.source = source, .prefix = "tokenizer.model."});
    if (adversary_) adversary_->load_state(tensors, source);
    const auto counts = tensors.find("codebook.counts");
    if (counts != tensors.end()) health_.set_counts(to_torch(counts->second));
  }

  double activation_bytes() const override {
    // Each level keeps about five maps per block (norm, activation and convolution, twice)
    // on both sides.
    const VqganConfig& c = options_.network;
    double floats = 0;
    double side = static_cast<double>(options_.train.size) / static_cast<double>(c.stem);
    for (std::size_t level = 0; level < c.multipliers.size(); ++level, side /= 2) {
      floats += 2 * 6 * static_cast<double>(c.blocks + 1) * side * side *
                static_cast<double>(c.level_channels(level));
    }
    const double pictures = static_cast<double>(options_.train.batch_size) /
                            static_cast<double>(options_.train.accumulate * world_.size());
    return 4 * floats * pictures;
  }

 private:
  struct Reconstruction {
    Tensor loss, latent;  // loss: everything but the discriminator's part
    Look real, made;      // the picture and its reconstruction
    Tensor counts;        // [K], how often each code was chosen
    Metrics metrics;
  };

  Reconstruction reconstruct(const Tensor& pixels, const RandomStream& stream) {
    Reconstruction made;
    {
      torch::AutoGradMode mode(options_.train_encoder);
      made.latent = network_->latent(pixels);
    }
    const Quantized quantized = network_->quantize(made.latent.to(torch::kFloat32));
    made.counts = torch::bincount(quantized.ids.flatten().cpu(), {}, health_.counts().numel());
    made.real.pixels = pixels;
    made.made.pixels = network_->decode(quantized.embeddings).to(torch::kFloat32);

    const Tensor error = made.made.pixels - pixels;
    const Tensor l1 = error.abs().mean();
    made.loss = options_.l1 * l1 + options_.codebook * quantized.codebook_loss +
                options_.commitment * quantized.commitment_loss;
    if (options_.l2 > 0) made.loss = made.loss + options_.l2 * error.square().mean();
    if (lpips_) {
      const Window window(pixels, options_.zoom, stream);
      {
        torch::NoGradGuard guard;
        made.real.features = lpips_->features(window.of(pixels) * 2 - 1);
      }
      made.made.features = lpips_->features(window.of(made.made.pixels) * 2 - 1);
      const Tensor perceptual = lpips_->distance(made.real.features, made.made.features).mean();
      made.loss = made.loss + options_.perceptual * perceptual;
      made.metrics["lpips"] = perceptual.item<double>();
      if (options_.texture > 0) {
        const Tensor texture =
            texture_distance(made.real.features, made.made.features, stream.fork("texture"));
        made.loss = made.loss + options_.texture * texture;
        made.metrics["texture"] = texture.item<double>();
      }
    }
    made.metrics["l1"] = l1.item<double>();
    made.metrics["commitment"] = quantized.commitment_loss.item<double>();
    made.metrics["loss"] = made.loss.item<double>();
    return made;
  }

  void rescue_codes(const StepContext& context, const Tensor& latent, Metrics& metrics) {
    const CodebookUse use = health_.use();
    metrics["codes_used"] = use.share();
    metrics["perplexity"] = use.perplexity;
    const std::int64_t done = context.step + 1;
    if (!options_.train_encoder || options_.restart_every == 0 ||
        done % options_.restart_every != 0)
      return;
    if (static_cast<double>(done) > options_.restart_until * static_cast<double>(context.total)) {
      health_.counts().zero_();
      return;
    }
    const Tensor features =
        latent.detach().to(torch::kFloat32).permute({0, 2, 3, 1}).reshape({-1, latent.size(1)});
    const Tensor codes = network_->named_parameters()["quantize.embedding.weight"];
    const RandomStream stream(static_cast<std::uint64_t>(options_.train.seed), "restart",
                              static_cast<std::uint64_t>(done));
    metrics["codes_restarted"] = static_cast<double>(health_.restart(
        codes, features.size(0) * world_.size(),
        [&](const std::vector<std::int64_t>& rows) { return rows_of_all(features, rows); },
        stream));
  }

  // Rows of the features of all processes, one behind the other: each gives its own.
  Tensor rows_of_all(const Tensor& features, const std::vector<std::int64_t>& rows) {
    const std::int64_t first = world_.rank() * features.size(0);
    const Tensor chosen = torch::zeros({static_cast<std::int64_t>(rows.size()), features.size(1)},
                                       features.options());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t row = rows[i] - first;
      if (row < 0 || row >= features.size(0)) continue;
      chosen[static_cast<std::int64_t>(i)].copy_(features[row]);
    }
    world_.all_reduce_sum(chosen);
    return chosen;
  }

  TokenizerTrainOptions options_;
  World& world_;
  PictureFeed feed_;
  std::shared_ptr<Vqgan> network_;
  std::optional<Lpips> lpips_;
  std::unique_ptr<Learner> generator_learner_;
  std::unique_ptr<Adversary> adversary_;  // null where there is no discriminator
  CodebookHealth health_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(const TokenizerTrainOptions& options, World& world) {
  return std::make_unique<TokenizerStage>(options, world);
}

}  // namespace addp
