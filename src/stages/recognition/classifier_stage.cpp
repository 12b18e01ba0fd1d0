// Fine-tuning an encoder, or training it from scratch, as an image classifier.
#include "data/load/open_dataset.h"
#include "data/load/transforms.h"
#include "data/set/dataset.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/recognition/picture_tensors.h"
#include "feed/mixing.h"
#include "feed/picture_feed.h"
#include "heads/classify/classifier.h"
#include "heads/classify/classifier_file.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/kernel/cross_entropy.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "stages/recognition/class_panel.h"
#include "stages/recognition/classifier_start.h"
#include "stages/recognition/make_stage.h"
#include "train/network_stage.h"

namespace addp {
namespace {

constexpr std::int64_t kEvaluationBatch = 64;

FeedOptions classifier_feed(const ClassifierTrainOptions& options, const World& world) {
  FeedOptions feed = FeedOptions::from(options.train, world);
  feed.task = Task::kClassification;
  feed.repeats = options.repeats;
  feed.label_share = options.label_share;
  AugmentTransformOptions transform;
  transform.crop.size = static_cast<int>(options.train.size);
  transform.crop.crop.min_area = options.crop;
  transform.crop.flip = options.flip;
  transform.crop.turn = options.turn;
  if (options.augment > 0) {
    transform.augment = RandAugmentOptions{.magnitude = options.augment,
                                           .magnitude_deviation = options.augment_deviation};
  }
  transform.erasing.probability = options.erasing;
  feed.transform = augment_transform(transform);
  return feed;
}

std::shared_ptr<Classifier> make_classifier(const ClassifierTrainOptions& options,
                                            const Dataset& dataset) {
  const BackboneStart start = start_backbone(options.backbone, options.train.size);
  ClassifierConfig config;
  config.backbone = fine_tuning_backbone(start.config, start.grid, options.drop_path);
  config.size = options.train.size;
  config.crop = options.eval_crop;
  return start_classifier(config, start, dataset,
                          start.file ? HeadStart::kFineTuning : HeadStart::kScratch,
                          initial_weights(options.train, "classifier"));
}

class ClassifierStage : public NetworkStage {
 public:
  ClassifierStage(const ClassifierTrainOptions& options, World& world)
      : NetworkStage("classifier", options.train, world, {"top1", true}),
        options_(options),
        feed_(classifier_feed(options, world)),
        validation_(open_evaluation_set(options.train.data, "", Task::kClassification)),
        classifier_(make_classifier(options, feed_.dataset())) {
    take_from(feed_);
    train_network(classifier_,
                  classifier_groups(*classifier_, options.layer_decay, options.train.weight_decay));
  }

  Metrics evaluate() override {
    classifier_->eval();
    Accuracy accuracy;
    const TensorPass pass{.pictures = {.batch = kEvaluationBatch,
                                       .threads = options_.train.workers,
                                       .rank = world_.rank(),
                                       .world = world_.size(),
                                       .when_interrupted = ""},
                          .size = options_.train.size,
                          .crop = options_.eval_crop};
    for_each_batch(validation_, pass, [&](const PictureBatch& batch) {
      accuracy.add(classifier_->forward(normalise_pixels(batch.pixels)), batch.labels);
    });
    const Tensor counts = accuracy.counts();
    world_.all_reduce_sum(counts);
    const Accuracy all = Accuracy::from_counts(counts);
    return {{"top1", all.top1()}, {"top5", all.top5()}};
  }

  std::vector<Panel> pictures() override {
    classifier_->eval();
    return {prediction_panel(*classifier_, validation_)};
  }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_classifier(path, *classifier_, provenance);
  }

  double activation_bytes() const override {
    const BackboneConfig& config = classifier_->config().backbone;
    const Grid grid = grid_of_side(options_.train.size, classifier_->encoder().stride());
    return backbone_activation_bytes(config, grid, pictures_at_once());
  }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    const MixOptions mix{options_.mixup, options_.cutmix, options_.label_smoothing};
    const auto side = static_cast<int>(options_.train.size);
    const PictureBatch batch = feed_.next();
    RandomStream mixing = part.stream.fork("mix");
    MixDraw draw = draw_mix(mix, side, side, mixing);
    draw.distance = options_.repeats;
    const Tensor targets =
        mix_targets(batch.labels, classifier_->config().classes, draw, mix.smoothing);
    DropoutKeys keys = part.dropout(batch.pixels.size(0));
    Bf16Scope scope(part.bf16);
    const Tensor pixels = normalise_pixels(mix_pixels(batch.pixels, draw));
    return {loss_of(classifier_->forward(pixels, &keys).to(torch::kFloat32), targets)};
  }

  Tensor loss_of(const Tensor& logits, const Tensor& targets) const {
    if (options_.loss == ClassLoss::kBinary) {
      return binary_class_loss(logits, targets, options_.bce_threshold);
    }
    return smoothed_cross_entropy(logits, {.probabilities = targets}, 0);
  }

  ClassifierTrainOptions options_;
  PictureFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Classifier> classifier_;
};

}  // namespace

std::unique_ptr<Stage> make_stage(const ClassifierTrainOptions& options, World& world) {
  return std::make_unique<ClassifierStage>(options, world);
}

}  // namespace addp
