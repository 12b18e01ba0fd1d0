// Training the token predictor: MAGE as in its paper, on the tokens of a frozen tokenizer.
#include "feed/class_condition.h"
#include "feed/token_feed.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "model/init.h"
#include "nn/encoder/activation_bytes.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "predictor/mage_file.h"
#include "predictor/mage_training.h"
#include "stages/generative/make_stage.h"
#include "stages/generative/transformer_size.h"
#include "train/network_stage.h"
#include "train/start_from.h"

namespace addp {
namespace {

MageConfig network_config(const PredictorTrainOptions& options, const Vqgan& tokenizer,
                          const TokenFeed& feed) {
  MageConfig config = mage_config(
      resolve_size(options.network),
      vocabulary_for(tokenizer, options.tokens, feed.pictures().dataset(), options.class_ids),
      feed.grid());
  config.dropout = config.attention_dropout = options.network.dropout;
  return config;
}

class PredictorStage : public NetworkStage {
 public:
  PredictorStage(const PredictorTrainOptions& options, World& world)
      : NetworkStage("predictor", options.train, world, {"loss", false}),
        options_(options),
        tokenizer_(load_tokenizer(options.tokens.tokenizer)),
        feed_(options.train, options.tokens, tokenizer_, world),
        network_(on_device(std::make_shared<Mage>(network_config(options, *tokenizer_, feed_)))) {
    initialise(*network_, initial_weights(options.train, "predictor"));
    if (const auto& start = options.network.start; !start.empty()) {
      start_from(*network_, *load_predictor(start), start.string());
    }
    take_from(feed_);
    train_network(network_, decay_groups(*network_, options.train.weight_decay));
  }

  Metrics evaluate() override {
    torch::NoGradGuard guard;
    const auto [tokens, labels] = feed_.validation(kValidationPictures);
    const Tensor classes =
        class_ids_of(labels, network_->config().vocabulary, options_.tokens, nullptr, 0);
    // The same masks at every evaluation, so that the curve shows the network alone.
    const RandomStream stream(0, "validation masks");
    const MageMask mask = sample_mage_mask(tokens.size(0), tokens.size(1), mask_options(), stream)
                              .to(tokens.device());
    const Tensor loss = mage_loss(*network_, tokens, mask, feed_.grid(), options_.label_smoothing,
                                  nullptr, classes);
    const Tensor best =
        network_->code_logits(tokens, mask.masked, feed_.grid(), nullptr, classes).argmax(-1);
    const Tensor right = (best == tokens).masked_select(mask.masked).to(torch::kFloat32);
    return {{"loss", loss.item<double>()}, {"accuracy", right.mean().item<double>()}};
  }

  // Pictures, what the tokenizer makes of them, half of their tokens hidden, and the
  // most likely filling.
  std::vector<Panel> pictures() override {
    torch::NoGradGuard guard;
    const Tensor pixels = feed_.pictures().validation_pictures(kShownPictures);
    const Tensor tokens = tokenizer_->encode(pixels);
    const MageMask mask = sample_mage_mask(tokens.size(0), tokens.size(1), {0.5, 1e-3, 0.49, 0.51},
                                           RandomStream(0, "shown masks"))
                              .to(tokens.device());
    const Tensor best = network_->code_logits(tokens, mask.masked, feed_.grid()).argmax(-1);
    const Tensor filled = torch::where(mask.masked, best, tokens);
    const Tensor hidden = at::upsample_nearest2d(
        mask.masked.to(torch::kFloat32).reshape({-1, 1, feed_.grid().height, feed_.grid().width}),
        {pixels.size(2), pixels.size(3)});
    const Tensor rebuilt = tokenizer_->decode_ids(tokens, feed_.grid());
    return {{"predictions", picture_rows({pixels, rebuilt, rebuilt * (1 - hidden) + 0.5 * hidden,
                                          tokenizer_->decode_ids(filled, feed_.grid())})}};
  }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_predictor(path, *network_, *tokenizer_,
                   with_class_names(provenance, options_.tokens, feed_.pictures().dataset()));
  }

  double activation_bytes() const override {
    const MageConfig& c = network_->config();
    const double pictures = pictures_at_once();
    const double tokens = pictures * static_cast<double>(c.grid.area() + 1);
    return block_activation_bytes(c.width, c.depth, tokens * (1 - options_.mask_lowest)) +
           block_activation_bytes(c.decoder_width, c.decoder_depth, tokens) +
           4 * 2 * tokens * static_cast<double>(c.vocabulary.size());
  }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    const auto [tokens, labels] = feed_.next();
    const std::int64_t first = part.first(tokens.size(0));
    DropoutKeys keys = part.dropout(tokens.size(0));
    const MageMask mask =
        sample_mage_mask(tokens.size(0), tokens.size(1), mask_options(), part.stream, first)
            .to(tokens.device());
    Bf16Scope scope(part.bf16);
    return {mage_loss(
        *network_, tokens, mask, feed_.grid(), options_.label_smoothing, &keys,
        class_ids_of(labels, network_->config().vocabulary, options_.tokens, &part.stream, first))};
  }

  MageMaskOptions mask_options() const {
    return {options_.mask_mean, options_.mask_deviation, options_.mask_lowest,
            options_.mask_highest};
  }

  PredictorTrainOptions options_;
  std::shared_ptr<Vqgan> tokenizer_;
  TokenFeed feed_;
  std::shared_ptr<Mage> network_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(const PredictorTrainOptions& options, World& world) {
  return std::make_unique<PredictorStage>(options, world);
}

}  // namespace addp
