// Training a segmenter: UperNet on a pre-trained or new encoder, with mIoU on the validation split.
#include "base/error.h"
#include "data/load/annotated_transforms.h"
#include "eval/recognition/segmentation_metrics.h"
#include "heads/segment/segment_picture.h"
#include "heads/segment/segmenter_file.h"
#include "image/draw/draw.h"
#include "image/draw/overlay.h"
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

DatasetOptions label_options(const SegmenterTrainOptions& options) {
  DatasetOptions data;
  data.ignore_label = static_cast<int>(options.ignore_label);
  data.num_classes = static_cast<int>(options.classes);
  if (options.zero_label != "auto") data.reduce_zero_label = options.zero_label == "ignore";
  return data;
}

Transform crop_transform(const SegmenterTrainOptions& options) {
  SegmentationTransformOptions transform;
  transform.size = static_cast<int>(options.train.size);
  transform.scale_low = options.maps.scale_low;
  transform.scale_high = std::max(options.maps.scale_low, options.maps.scale_high);
  transform.flip = options.maps.flip;
  transform.turn = options.maps.turn;
  transform.max_share = options.max_share;
  return segmentation_transform(transform);
}

std::shared_ptr<Segmenter> make_segmenter(const SegmenterTrainOptions& options,
                                          const Dataset& dataset) {
  const MapsStart maps = start_maps(options.maps, options.train.size);
  SegmenterConfig config{.maps = maps.config,
                         .class_names = dataset.class_names(),
                         .channels = options.channels,
                         .auxiliary_channels = options.auxiliary_channels,
                         .size = options.train.size,
                         .dropout = options.dropout};
  auto network = on_device(std::make_shared<Segmenter>(config, maps.tokenizer));
  initialise_on_maps(*network, initial_weights(options.train, "segmenter"));
  if (maps.pretrained) network->maps().load_pretrained(*maps.pretrained);
  return network;
}

Tensor label_tensor(const GrayImage& labels) {
  return torch::from_blob(const_cast<std::uint8_t*>(labels.pixels.data()),  // only read
                          {labels.height, labels.width}, torch::kUInt8);
}

class SegmenterStage : public MapsStage<SegmenterTrainOptions, Segmenter> {
 public:
  SegmenterStage(const SegmenterTrainOptions& options, World& world)
      : MapsStage(options, world,
                  {.name = "segmenter",
                   .best = {"miou", true},
                   .task = Task::kSegmentation,
                   .training = label_options(options),
                   .validation = label_options(options),
                   .transform = crop_transform(options),
                   .labels = true,
                   .make = make_segmenter,
                   .load = load_segmenter}) {}

  Metrics evaluate() override {
    network_->eval();
    const std::int64_t classes = network_->config().classes();
    ConfusionMatrix matrix(classes);
    const auto visit = [&](const BatchItem& sample) {
      const GrayImage found = segment_picture(*network_, sample.image, test_options());
      matrix.add(label_tensor(sample.label_map), label_tensor(found), kIgnoreLabel,
                 {sample.name, sample.name});
    };
    for_each_sample(validation_, measured_pictures(options_.maps, options_.train, world_), visit);
    Tensor counts = torch::tensor(matrix.counts(), torch::kInt64);
    if (world_.size() > 1) world_.all_reduce_sum(counts);
    const std::int64_t* all = counts.data_ptr<std::int64_t>();
    const SegmentationFigures figures =
        segmentation_figures(ConfusionMatrix(classes, {all, all + counts.numel()}));
    return {{"miou", 100 * figures.mean_iou},
            {"mean_accuracy", 100 * figures.mean_accuracy},
            {"pixel_accuracy", 100 * figures.pixel_accuracy}};
  }

  // Pictures, the truth over them, and what the network finds.
  std::vector<Panel> pictures() override {
    network_->eval();
    std::vector<Image> shown, truth, found;
    const auto& names = network_->config().class_names;
    for_each_sample(validation_, shown_pictures(), [&](const BatchItem& sample) {
      shown.push_back(sample.image);
      truth.push_back(overlay_labels(sample.image, sample.label_map, names));
      found.push_back(overlay_labels(
          sample.image, segment_picture(*network_, sample.image, test_options()), names));
    });
    if (shown.empty()) return {};
    const auto count = static_cast<int>(shown.size());
    shown.insert(shown.end(), truth.begin(), truth.end());
    shown.insert(shown.end(), found.begin(), found.end());
    return {{"segmentations", make_grid(shown, count)}};
  }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    save_segmenter(path, *network_, provenance);
  }

  double activation_bytes() const override {
    const SegmenterConfig& c = network_->config();
    const double pictures = pictures_at_once();
    const double pixels = pictures * static_cast<double>(c.size * c.size);
    const Maps& maps = network_->maps();
    const double finest = static_cast<double>(maps.strides()[0]) / (maps.is_transformer() ? 4 : 1);
    // The finest level counts: four maps concatenated and two more, beside the logits of all
    // pixels.
    return backbone_activation_bytes(c.maps.backbone, c.maps.backbone.grid(), pictures) +
           4 * (pixels / (finest * finest) * 12 * static_cast<double>(c.channels) +
                pixels * 2 * static_cast<double>(c.classes()));
  }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override {
    const AnnotatedBatch batch = feed_.next();
    DropoutKeys keys = part.dropout(batch.pixels.size(0));
    const double pixels = mean_over_processes(counted_pixels(batch.labels));
    Bf16Scope scope(part.bf16);
    const SegmenterOutput out = network_->forward(normalise_pixels(batch.pixels), &keys);
    const Tensor main = segmentation_loss(out.logits, batch.labels, pixels);
    const Tensor auxiliary = segmentation_loss(out.auxiliary, batch.labels, pixels);
    return {main + options_.auxiliary * auxiliary,
            {{"loss", main.item<double>()}, {"auxiliary", auxiliary.item<double>()}}};
  }

  LabelingOptions test_options() const {
    return {.short_side = options_.train.size,
            .scales = options_.test_scales,
            .flip = options_.test_flip};
  }
};

}  // namespace

std::unique_ptr<Stage> make_stage(const SegmenterTrainOptions& options, World& world) {
  return std::make_unique<SegmenterStage>(options, world);
}

}  // namespace addp
