// Pre-training ADDP: Algorithm 1 on the tokens of a frozen tokenizer with a frozen predictor.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "diffusion/addp_file.h"
#include "diffusion/algorithm1.h"
#include "feed/class_condition.h"
#include "feed/token_feed.h"
#include "generate/sampler.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "model/init.h"
#include "nn/encoder/activation_bytes.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "stages/generative/make_stage.h"
#include "stages/generative/transformer_size.h"
#include "train/network_stage.h"
#include "train/start_from.h"

namespace addp {
namespace {

EncoderConfig encoder_config(const AddpTrainOptions& options, const TransformerSize& size,
                             const Grid& grid, std::int64_t stride) {
  if (options.encoder != "vit") return encoder_preset(options.encoder, grid, stride);
  EncoderConfig config;
  config.vit.width = size.width;
  config.vit.depth = size.depth;
  config.vit.heads = size.heads;
  config.vit.patch = stride;  // a patch under each token
  config.vit.grid = grid;
  config.vit.dropout = config.vit.attention_dropout = options.network.dropout;
  return config;
}

AddpConfig network_config(const AddpTrainOptions& options, const Vqgan& tokenizer,
                          const TokenFeed& feed) {
  const TransformerSize size = resolve_size(options.network);
  AddpConfig config = addp_config(
      encoder_config(options, size, feed.grid(), tokenizer.factor()), size,
      vocabulary_for(tokenizer, options.tokens, feed.pictures().dataset(), options.class_ids),
      feed.grid());
  config.dropout = config.attention_dropout = options.network.dropout;
  config.token_input = options.token_input;
  return config;
}

std::shared_ptr<Mage> open_predictor(const AddpTrainOptions& options, const Vqgan& tokenizer) {
  const auto predictor = load_predictor(options.predictor);
  require_codes(predictor->config().vocabulary, tokenizer, options.predictor);
  return predictor;
}

class AddpStage : public NetworkStage {
 public:
  AddpStage(const AddpTrainOptions& options, World& world)
      : NetworkStage("addp", options.train, world, {"loss", false}),
        options_(options),
        tokenizer_(load_tokenizer(options.tokens.tokenizer)),
        predictor_(open_predictor(options, *tokenizer_)),
        feed_(options.train, options.tokens, tokenizer_, world),
        pretraining_(options.diffusion),
        network_(on_device(std::make_shared<Addp>(network_config(options, *tokenizer_, feed_)))) {
    initialise(*network_, initial_weights(options.train, "addp"));
    if (const auto& start = options.network.start; !start.empty()) {
      start_from(*network_, *load_addp(start, options.tokens.tokenizer).network, start.string());
    }
    if (options.tokens.class_conditional &&
        predictor_->config().vocabulary != network_->config().vocabulary) {
      throw UsageError(
          "{}: was trained for {} classes, the data have {}; train the predictor with "
          "--class-conditional on the same data",
          options.predictor, predictor_->config().vocabulary.classes(),
          network_->config().vocabulary.classes());
    }
    take_from(feed_);
    train_network(network_, decay_groups(*network_, options.train.weight_decay));
  }

  Metrics evaluate() override {
    torch::NoGradGuard guard;
    network_->eval();
    const auto [z0, labels] = feed_.validation(kValidationPictures);
    // The same few masks at every evaluation, so that the curve shows the network alone.
    constexpr std::uint64_t kDraws = 4;
    const PretrainingBatch batch{z0, feed_.grid(), classes_of(labels, nullptr, 0)};
    PretrainingOptions options = pretraining_;
    options.with_floor = true;
    Metrics metrics;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const PretrainingLoss loss =
          pretraining_loss(*network_, {tokenizer_.get(), predictor_.get()}, batch, options,
                           RandomStream(0, "validation", draw), nullptr);
      metrics["loss"] += loss.value.item<double>() / kDraws;
      metrics["floor"] += loss.floor.item<double>() / kDraws;
    }
    return metrics;
  }

  std::vector<Panel> pictures() override { return {noisy_panel(), sample_panel()}; }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_addp(path, *network_, *tokenizer_,
              with_class_names(provenance, options_.tokens, feed_.pictures().dataset()));
  }

  double activation_bytes() const override {
    const AddpConfig& c = network_->config();
    const double pictures = pictures_at_once();
    const double positions = pictures * static_cast<double>(c.grid.area() + 1);
    // Up to half of the tokens are reliable and stand behind the positions in the decoder.
    const double cell = static_cast<double>(c.encoder.stride() * c.encoder.stride());
    return encoder_activation_bytes(c.encoder, positions * cell) +
           block_activation_bytes(c.decoder_width, c.decoder_depth, 1.5 * positions) +
           4 * 2 * positions * static_cast<double>(c.vocabulary.size());
  }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    const auto [z0, labels] = feed_.next();
    const std::int64_t first = part.first(z0.size(0));
    DropoutKeys keys = part.dropout(z0.size(0));
    Bf16Scope scope(part.bf16);
    const PretrainingBatch batch{z0, feed_.grid(), classes_of(labels, &part.stream, first), first};
    return {pretraining_loss(*network_, {tokenizer_.get(), predictor_.get()}, batch, pretraining_,
                             part.stream, &keys)
                .value};
  }

  // Ids for the class position, undefined in unconditional training. The predictor must have been
  // trained with the same classes.
  Tensor classes_of(const Tensor& labels, const RandomStream* stream, std::int64_t first) const {
    return class_ids_of(labels, network_->config().vocabulary, options_.tokens, stream, first);
  }

  // Pictures, and the noisy x_t that the encoder is trained on at three mask ratios.
  Panel noisy_panel() const {
    torch::NoGradGuard guard;
    const Tensor pixels = feed_.pictures().validation_pictures(kShownPictures);
    const Tensor z0 = tokenizer_->encode(pixels);
    std::vector<Tensor> rows{pixels};
    for (const double ratio : {0.5, 0.75, 0.95}) {
      rows.push_back(noisy_pictures({tokenizer_.get(), predictor_.get()}, z0, feed_.grid(), ratio,
                                    options_.diffusion, RandomStream(0, "shown masks")));
    }
    return {"noisy", picture_rows(rows)};
  }

  Panel sample_panel() const {
    torch::NoGradGuard guard;
    network_->eval();
    SamplerOptions options;
    options.steps = options_.sample_steps;
    std::vector<std::uint64_t> pictures(2 * kShownPictures);
    std::iota(pictures.begin(), pictures.end(), 0);
    StreamNoise keys(0, pictures);
    const Samples samples =
        generate(*network_, *tokenizer_,
                 SamplerStart::nothing(static_cast<std::int64_t>(pictures.size()), feed_.grid()),
                 options, keys);
    return {"samples", picture_rows(samples.pixels.split(kShownPictures))};
  }

  AddpTrainOptions options_;
  std::shared_ptr<Vqgan> tokenizer_;
  std::shared_ptr<Mage> predictor_;
  TokenFeed feed_;
  PretrainingOptions pretraining_;
  std::shared_ptr<Addp> network_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(const AddpTrainOptions& options, World& world) {
  return std::make_unique<AddpStage>(options, world);
}

}  // namespace addp
