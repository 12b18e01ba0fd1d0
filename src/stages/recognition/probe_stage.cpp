// Linear probing: a linear layer on the features of a frozen encoder, trained with LARS, and the
// accuracy of nearest neighbours among the same features beside it.
#include <optional>

#include "base/error.h"
#include "base/file/sha256.h"
#include "data/load/open_dataset.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/recognition/knn.h"
#include "feed/feature_feed.h"
#include "heads/classify/classifier.h"
#include "heads/classify/classifier_file.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/kernel/cross_entropy.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "stages/recognition/class_panel.h"
#include "stages/recognition/classifier_start.h"
#include "stages/recognition/make_stage.h"
#include "train/network_stage.h"

namespace addp {
namespace {

// The encoder as it was pre-trained, its norms included. Behind an inner block it ends there: the
// blocks above are left out, and the final norm comes after the block.
BackboneConfig frozen_backbone(const BackboneStart& start, const ProbeTrainOptions& options) {
  BackboneConfig config = start.config;
  config.encoder.vit.grid = start.grid;
  config.tokens.grid = start.grid;
  if (options.block == 0 && options.position == "mean") return config;
  if (!config.is_transformer()) {
    throw UsageError("--block and --position class are for transformers; this is a ResNet");
  }
  if (options.block > config.depth()) {
    throw UsageError("--block {}: the encoder has {} blocks", options.block, config.depth());
  }
  if (options.block > 0) {
    auto& depth =
        config.input == BackboneInput::kTokens ? config.tokens.depth : config.encoder.vit.depth;
    depth = options.block;
  }
  return config;
}

std::shared_ptr<Classifier> make_probe(const ProbeTrainOptions& options, const Dataset& dataset) {
  const BackboneStart start = start_backbone(options.backbone, options.train.size);
  ClassifierConfig config;
  config.backbone = frozen_backbone(start, options);
  config.head = ClassifierHead::kProbe;
  config.class_position = options.position == "class";
  config.size = options.train.size;
  config.crop = options.eval_crop;
  auto probe = start_classifier(config, start, dataset, HeadStart::kProbing,
                                initial_weights(options.train, "probe"));
  for (Tensor& parameter : probe->encoder().parameters()) parameter.set_requires_grad(false);
  return probe;
}

// Tells encoders apart whose features a cache may hold.
std::string digest_of(const torch::nn::Module& network) {
  Sha256 digest;
  for (const auto& item : network.named_parameters()) {
    digest.add(as_byte_span(sha256_of(item.value())));
  }
  return digest.hex();
}

FeatureFeedOptions probe_feed(const ProbeTrainOptions& options, const World& world,
                              Classifier& probe) {
  FeatureFeedOptions feed;
  feed.pictures = FeedOptions::from(options.train, world);
  feed.pictures.task = Task::kClassification;
  feed.pictures.crop = options.crop;
  feed.pictures.flip = options.flip;
  feed.views = options.views;
  feed.middle = options.eval_crop;
  feed.cache = options.train.out / "features.safetensors";
  feed.key = fmt::format("{}|{}", options.eval_crop, digest_of(probe.encoder()));
  if (probe.config().class_position) feed.key += "|class position";
  return feed;
}

class ProbeStage : public NetworkStage {
 public:
  ProbeStage(const ProbeTrainOptions& options, World& world)
      : NetworkStage("probe", options.train, world, {"top1", true}),
        options_(options),
        classifier_(
            make_probe(options, *open_dataset(options.train.data, "train", Task::kClassification))),
        validation_(open_evaluation_set(options.train.data, "", Task::kClassification)) {
    classifier_->eval();
    feed_ = std::make_unique<FeatureFeed>(
        probe_feed(options, world, *classifier_),
        [this](const Tensor& pixels) {
          return classifier_->pooled(normalise_pixels(pixels)).to(torch::kFloat32);
        },
        world);
    take_from(*feed_);
    train_network(classifier_, make_lars(decay_groups(*classifier_, options.train.weight_decay),
                                         {.momentum = options.momentum}));
  }

  Metrics evaluate() override {
    torch::NoGradGuard guard;
    classifier_->eval();
    if (!held_out_.features.defined()) {
      held_out_ =
          extract_set(validation_, options_.train.size, options_.eval_crop, options_.train.workers,
                      "validation features", [this](const Tensor& pixels) {
                        return classifier_->pooled(normalise_pixels(pixels)).to(torch::kFloat32);
                      });
    }
    Accuracy accuracy;
    accuracy.add(classifier_->logits(held_out_.features.to(compute_device())), held_out_.labels);
    Metrics metrics{{"top1", accuracy.top1()}, {"top5", accuracy.top5()}};
    if (options_.neighbours > 0) metrics["knn"] = neighbour_accuracy();
    return metrics;
  }

  std::vector<Panel> pictures() override {
    classifier_->eval();
    return {prediction_panel(*classifier_, validation_)};
  }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_classifier(path, *classifier_, provenance);
  }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    LabelledFeatures batch;
    {
      Bf16Scope scope(part.bf16);
      batch = feed_->next();
    }
    return {
        smoothed_cross_entropy(classifier_->logits(batch.features), {.labels = batch.labels}, 0)};
  }

  // Only the head's batch norm learns its statistics: the encoder's are part of what is probed.
  void training_mode() override {
    classifier_->train();
    classifier_->encoder().eval();
  }

  double neighbour_accuracy() {
    if (!neighbour_accuracy_) {
      const LabelledFeatures& bank = feed_->plain();
      Accuracy accuracy;
      accuracy.add(knn_scores(bank.features, bank.labels, held_out_.features,
                              classifier_->config().classes, {.neighbours = options_.neighbours}),
                   held_out_.labels);
      neighbour_accuracy_ = accuracy.top1();
    }
    return *neighbour_accuracy_;
  }

  ProbeTrainOptions options_;
  std::shared_ptr<Classifier> classifier_;
  std::unique_ptr<FeatureFeed> feed_;
  std::shared_ptr<const Dataset> validation_;
  // The encoder is frozen, so these are computed once.
  LabelledFeatures held_out_;
  std::optional<double> neighbour_accuracy_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(const ProbeTrainOptions& options, World& world) {
  return std::make_unique<ProbeStage>(options, world);
}

}  // namespace addp
