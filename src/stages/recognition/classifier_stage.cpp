#include "stages/recognition/classifier_stage.h"

#include "data/load/open_dataset.h"
#include "data/load/transforms.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/recognition/picture_tensors.h"
#include "feed/mixing.h"
#include "heads/classify/classifier_file.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/kernel/cross_entropy.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "stages/recognition/backbone_start.h"
#include "stages/recognition/class_panel.h"

namespace addp {
namespace {

constexpr std::int64_t kEvaluationBatch = 64;

FeedOptions classifier_feed(const ClassifierTrainOptions& options, const World& world) {
  FeedOptions feed = FeedOptions::from(options.train, world);
  feed.task = Task::kClassification;
  feed.repeats = options.repeats;
  AugmentTransformOptions transform;
  transform.crop.size = static_cast<int>(options.train.size);
  transform.crop.crop.min_area = options.crop;
  transform.crop.flip = options.flip;
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
  const ClassifierConfig config =
      classifier_of(fine_tuning_backbone(start.config, start.grid, options.drop_path), dataset,
                    options.train.size, options.eval_crop);
  auto classifier = on_device(std::make_shared<Classifier>(config, start.tokenizer));
  const RandomStream stream(static_cast<std::uint64_t>(options.train.seed), "initial weights");
  initialise_classifier(*classifier, start.file ? HeadStart::kFineTuning : HeadStart::kScratch,
                        stream.fork("classifier"));
  if (start.file) load_backbone(classifier->encoder(), config.backbone, *start.file);
  return classifier;
}

}  // namespace

ClassifierStage::ClassifierStage(const ClassifierTrainOptions& options, World& world)
    : NetworkStage("classifier", options.train, world, {"top1", true}),
      options_(options),
      feed_(classifier_feed(options, world)),
      validation_(open_evaluation_set(options.train.data, "", Task::kClassification)),
      classifier_(make_classifier(options, feed_.dataset())) {
  take_from(feed_);
  train_network(classifier_,
                classifier_groups(*classifier_, options.layer_decay, options.train.weight_decay));
}

ClassifierConfig classifier_of(const BackboneConfig& backbone, const Dataset& dataset,
                               std::int64_t size, double crop) {
  ClassifierConfig config;
  config.backbone = backbone;
  config.classes = static_cast<std::int64_t>(dataset.class_names().size());
  config.class_names = dataset.class_names();
  config.class_keys = dataset.class_keys();
  config.size = size;
  config.crop = crop;
  return config;
}

Tensor ClassifierStage::loss_of(const Tensor& logits, const Tensor& targets) const {
  if (options_.loss == ClassLoss::kBinary) {
    return binary_class_loss(logits, targets, options_.bce_threshold);
  }
  return smoothed_cross_entropy(logits, {.probabilities = targets}, 0);
}

NetworkStage::MicrobatchLoss ClassifierStage::microbatch_loss(const Microbatch& part) {
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

Metrics ClassifierStage::evaluate() {
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

std::vector<Panel> ClassifierStage::pictures() {
  classifier_->eval();
  return {prediction_panel(*classifier_, validation_)};
}

Panel prediction_panel(Classifier& classifier, const std::shared_ptr<const Dataset>& validation) {
  const ClassifierConfig& config = classifier.config();
  std::vector<Image> shown;
  std::vector<ClassVerdict> verdicts;
  const TensorPass pass{.pictures = {.limit = 2 * kShownPictures,
                                     .order = PassOrder::kShuffled,
                                     .batch = 2 * kShownPictures,
                                     .max_broken = 1,
                                     .when_interrupted = ""},
                        .size = config.picture_size(),
                        .crop = config.crop};
  const auto name = [&](std::int64_t index) {
    return index < 0 ? std::string("?") : config.class_names.at(static_cast<std::size_t>(index));
  };
  for_each_batch(validation, pass, [&](const PictureBatch& batch) {
    const Tensor logits = classifier.forward(normalise_pixels(batch.pixels));
    const auto [best, guess] = logits.softmax(1).max(1);
    for (std::int64_t i = 0; i < batch.pixels.size(0); ++i) {
      shown.push_back(to_image(batch.pixels[i]));
      verdicts.push_back({name(guess[i].item<std::int64_t>()),
                          name(batch.labels[i].item<std::int64_t>()), best[i].item<double>()});
    }
  });
  return {"predictions", class_panel(shown, verdicts)};
}

void ClassifierStage::save_model(const std::filesystem::path& path, const std::string& provenance) {
  save_classifier(path, *classifier_, provenance);
}

double ClassifierStage::activation_bytes() const {
  const BackboneConfig& config = classifier_->config().backbone;
  const Grid grid = grid_of_side(options_.train.size, classifier_->encoder().stride());
  return backbone_activation_bytes(config, grid, pictures_at_once());
}

}  // namespace addp
