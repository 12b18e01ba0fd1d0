// Training a detector, with COCO's AP of boxes and masks on the validation split.
#include <charconv>

#include "base/error.h"
#include "base/json_text.h"
#include "data/coco/coco_results.h"
#include "data/load/annotated_transforms.h"
#include "eval/recognition/coco_ap.h"
#include "heads/detect/detect_picture.h"
#include "heads/detect/detector_file.h"
#include "image/draw/draw.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "stages/recognition/backbone_start.h"
#include "stages/recognition/make_stage.h"
#include "stages/recognition/maps_stage.h"
#include "stages/recognition/maps_start.h"

namespace addp {
namespace {

constexpr double kShownScore = 0.3;

Transform jitter_transform(const DetectorTrainOptions& options) {
  DetectionTransformOptions transform;
  transform.size = static_cast<int>(options.train.size);
  transform.scale_low = options.maps.scale_low;
  transform.scale_high = std::max(options.maps.scale_low, options.maps.scale_high);
  transform.magnify = options.magnify;
  transform.flip = options.maps.flip;
  transform.turn = options.maps.turn;
  return detection_transform(transform);
}

DatasetOptions chosen_classes(const DetectorTrainOptions& options) {
  DatasetOptions chosen;
  chosen.only_classes = options.only;
  return chosen;
}

DatasetOptions learned_pictures(const DetectorTrainOptions& options) {
  DatasetOptions learned = chosen_classes(options);
  learned.only_annotated = true;
  if (options.magnify > 0) {
    learned.part_side = static_cast<double>(options.train.size) / options.magnify;
  }
  return learned;
}

// COCO's own ids where the set has any, else 1, 2, ...
std::vector<std::int64_t> category_ids(const Dataset& dataset) {
  std::vector<std::int64_t> ids;
  for (const std::string& key : dataset.class_keys()) {
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const bool number = error == std::errc{} && end == key.data() + key.size();
    ids.push_back(number ? id : static_cast<std::int64_t>(ids.size()) + 1);
  }
  return ids;
}

std::shared_ptr<Detector> make_detector(const DetectorTrainOptions& options,
                                        const Dataset& dataset) {
  const MapsStart maps = start_maps(options.maps, options.train.size);
  DetectorConfig config;
  config.maps = maps.config;
  config.class_names = dataset.class_names();
  config.category_ids = category_ids(dataset);
  config.size = options.train.size;
  config.magnify = options.magnify;
  config.channels = options.channels;
  config.rpn.strides = options.strides;
  config.rpn.anchor_scale = options.anchor_scale;
  config.rpn.convs = options.rpn_convs;
  config.roi = {options.cells,      options.mask_cells,    options.box_convs,  options.box_width,
                options.mask_convs, options.mask_channels, options.level_scale};
  config.proposals = options.proposals;
  auto network = on_device(std::make_shared<Detector>(config, maps.tokenizer));
  network->initialise_weights(initial_weights(options.train, "detector"));
  if (maps.pretrained) network->maps().load_pretrained(*maps.pretrained);
  return network;
}

void add_truth(const BatchItem& sample, const std::vector<std::int64_t>& ids, CocoFile& truth) {
  truth.images.push_back({sample.id, sample.name, sample.image.width, sample.image.height});
  for (const Instance& instance : sample.instances) {
    CocoAnnotation annotation;
    annotation.id = static_cast<std::int64_t>(truth.annotations.size()) + 1;
    annotation.image_id = sample.id;
    annotation.category_id = ids[static_cast<std::size_t>(instance.class_id)];
    annotation.box = instance.box;
    annotation.area = instance.area;
    annotation.crowd = instance.crowd;
    annotation.mask.runs = instance.mask;
    truth.annotations.push_back(std::move(annotation));
  }
}

class DetectorStage : public MapsStage<DetectorTrainOptions, Detector> {
 public:
  DetectorStage(const DetectorTrainOptions& options, World& world)
      : MapsStage(options, world,
                  {.name = "detector",
                   .best = {"box_ap", true},
                   .task = Task::kDetection,
                   .training = learned_pictures(options),
                   .validation = chosen_classes(options),
                   .transform = jitter_transform(options),
                   .labels = false,
                   .make = make_detector,
                   .load = load_detector}) {}

  Metrics evaluate() override {
    network_->eval();
    const std::vector<std::int64_t>& ids = network_->config().category_ids;
    CocoFile truth;
    truth.name = validation_->description();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      truth.categories.push_back({ids[i], network_->config().class_names[i]});
    }
    std::vector<CocoAnnotation> found;
    const auto visit = [&](const BatchItem& sample) {
      for (const Detection& detection : detect_picture(*network_, sample.image)) {
        found.push_back(
            to_coco(detection, sample.id, ids[static_cast<std::size_t>(detection.class_id)]));
      }
      add_truth(sample, ids, truth);
    };
    for_each_sample(validation_, measured_pictures(options_.maps, options_.train, world_), visit);
    if (world_.size() > 1) {
      // Each process has seen its own pictures; every one gets the others' truths and detections.
      const auto truths = world_.all_gather(json_text(coco_to_json(truth)));
      const auto results = world_.all_gather(json_text(coco_results_to_json(found)));
      truth.images.clear();
      truth.annotations.clear();
      found.clear();
      for (std::size_t i = 0; i < truths.size(); ++i) {
        join_coco(parse_coco(as_byte_span(truths[i]), truth.name), truth);
        const auto part = parse_coco_detections(as_byte_span(results[i]), truth.name);
        found.insert(found.end(), part.begin(), part.end());
      }
    }
    sort_coco(truth);
    const CocoFigures box = evaluate_coco(truth, found, CocoTask::kBox),
                      mask = evaluate_coco(truth, found, CocoTask::kMask);
    return {{"box_ap", 100 * box.values[0]},
            {"box_ap50", 100 * box.values[1]},
            {"mask_ap", 100 * mask.values[0]},
            {"mask_ap50", 100 * mask.values[1]}};
  }

  // The annotations above, what the network finds below.
  std::vector<Panel> pictures() override {
    network_->eval();
    std::vector<Image> truth, found;
    const auto& names = network_->config().class_names;
    DetectorLimits shown;
    shown.score = kShownScore;
    for_each_sample(validation_, shown_pictures(), [&](const BatchItem& sample) {
      std::vector<Detection> annotated;
      for (const Instance& instance : sample.instances) {
        annotated.push_back({instance.class_id, 1, instance.box, instance.mask});
      }
      truth.push_back(draw_detections(sample.image, annotated, names));
      found.push_back(
          draw_detections(sample.image, detect_picture(*network_, sample.image, shown), names));
    });
    if (truth.empty()) return {};
    const auto count = static_cast<int>(truth.size());
    truth.insert(truth.end(), found.begin(), found.end());
    return {{"detections", make_grid(truth, count)}};
  }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_detector(path, *network_, provenance);
  }

  double activation_bytes() const override {
    const DetectorConfig& c = network_->config();
    const double pictures = pictures_at_once();
    const double pixels = pictures * static_cast<double>(c.size * c.size);
    const auto finest = static_cast<double>(c.rpn.strides.front());
    const double regions = pictures * static_cast<double>(options_.regions * c.channels);
    const double boxes =
        regions * static_cast<double>(3 * c.roi.cells * c.roi.cells * (c.roi.box_convs + 1));
    const double masks =
        regions * options_.positive_share *
        static_cast<double>(3 * c.roi.mask_cells * c.roi.mask_cells * (c.roi.mask_convs + 4));
    return backbone_activation_bytes(c.maps.backbone, c.maps.backbone.grid(), pictures) +
           4 * (pixels / (finest * finest) * 8 * static_cast<double>(c.channels) + boxes + masks);
  }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    const auto side = static_cast<int>(options_.train.size);
    const DetectorSampling sampling{options_.anchors, options_.regions, options_.positive_share};
    const AnnotatedBatch batch = feed_.next();
    std::vector<DetectionTarget> targets;
    for (const auto& instances : batch.instances) {
      targets.push_back(target_of(instances, side, side));
    }
    DropoutKeys keys = part.dropout(batch.pixels.size(0));
    const DetectorShare share{part.first(batch.pixels.size(0)),
                              [this](double count) { return mean_over_processes(count); }};
    Bf16Scope scope(part.bf16);
    const DetectorLosses losses = network_->losses(normalise_pixels(batch.pixels), targets,
                                                   sampling, part.stream, &keys, share);
    return {losses.total(),
            {{"rpn_score", losses.rpn_score.item<double>()},
             {"rpn_box", losses.rpn_box.item<double>()},
             {"score", losses.score.item<double>()},
             {"box", losses.box.item<double>()},
             {"mask", losses.mask.item<double>()}}};
  }
};

}  // namespace

std::unique_ptr<Stage> make_stage(const DetectorTrainOptions& options, World& world) {
  return std::make_unique<DetectorStage>(options, world);
}

}  // namespace addp
