#include "commands/measure/eval_segmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "data/set/layout.h"
#include "eval/recognition/confusion_picture.h"
#include "eval/recognition/segmentation_metrics.h"
#include "image/codec/codec.h"
#include "nn/torch.h"
#include "report/table.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

// The maps below a folder by their names without it and without the extension.
std::map<std::string, fs::path> maps_in(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw DataError("{}: is no folder of label maps", folder);
  std::map<std::string, fs::path> maps;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".png") continue;
    maps[fs::relative(entry.path(), folder).replace_extension().string()] = entry.path();
  }
  if (maps.empty()) throw DataError("{}: holds no label maps (.png)", folder);
  return maps;
}

Tensor to_labels(const GrayImage& image) {
  return torch::from_blob(const_cast<std::uint8_t*>(image.pixels.data()),  // only read
                          {image.height, image.width}, torch::kUInt8)
      .to(torch::kInt64);
}

GrayImage load_truth(const fs::path& path, const EvalSegmentationOptions& options) {
  GrayImage labels = load_labels(path);
  if (options.zero_label == "class") return labels;
  for (std::uint8_t& label : labels.pixels) {
    if (label != options.ignore) {
      label = static_cast<std::uint8_t>(label == 0 ? options.ignore : label - 1);
    }
  }
  return labels;
}

struct MapPair {
  fs::path truth, prediction;
};

std::vector<MapPair> pair_maps(const EvalSegmentationOptions& options) {
  const auto truths = maps_in(options.labels), predictions = maps_in(options.predictions);
  std::vector<MapPair> pairs;
  for (const auto& [name, path] : truths) {
    auto found = predictions.find(name + "-labels");  // beside an overlay called NAME.png
    if (found == predictions.end()) found = predictions.find(name);
    if (found == predictions.end()) {
      throw DataError("{}: has no prediction '{}.png' for {}; predict every picture",
                      options.predictions, name, path);
    }
    pairs.push_back({path, found->second});
  }
  return pairs;
}

std::vector<std::string> class_names(const EvalSegmentationOptions& options,
                                     const std::vector<MapPair>& pairs) {
  std::vector<std::string> names;
  if (!options.classes.empty()) {
    for (const ClassLine& line : parse_class_lines(read_text_file(options.classes))) {
      names.push_back(line.name);
    }
  }
  std::int64_t count = options.count > 0 ? options.count : static_cast<std::int64_t>(names.size());
  if (count == 0) {
    for (const MapPair& pair : pairs) {
      for (const GrayImage& map : {load_truth(pair.truth, options), load_labels(pair.prediction)}) {
        for (const std::uint8_t label : map.pixels) {
          if (label != options.ignore) count = std::max<std::int64_t>(count, label + 1);
        }
      }
    }
  }
  if (count == 0) {
    throw DataError("{}: every pixel is ignored (label {}); there is nothing to compare",
                    options.labels, options.ignore);
  }
  for (auto i = static_cast<std::int64_t>(names.size()); i < count; ++i) {
    names.push_back(fmt::format("class {}", i));
  }
  names.resize(static_cast<std::size_t>(count));
  return names;
}

ConfusionMatrix compare(const std::vector<MapPair>& pairs, std::int64_t classes,
                        const EvalSegmentationOptions& options) {
  ConfusionMatrix matrix(classes);
  Progress progress("label maps", static_cast<std::int64_t>(pairs.size()), "pictures");
  for (const MapPair& pair : pairs) {
    throw_if_interrupted("nothing was kept; run the command again");
    const GrayImage truth = load_truth(pair.truth, options),
                    prediction = load_labels(pair.prediction);
    if (truth.width != prediction.width || truth.height != prediction.height) {
      throw DataError("{}: is {} x {} where its truth is {} x {}; predict at the picture's size",
                      pair.prediction, prediction.width, prediction.height, truth.width,
                      truth.height);
    }
    matrix.add(to_labels(truth), to_labels(prediction), options.ignore,
               {pair.truth.string(), pair.prediction.string()});
    progress.advance();
  }
  return matrix;
}

nlohmann::json number_or_null(double value) {
  return std::isnan(value) ? nlohmann::json() : nlohmann::json(value);
}

nlohmann::json to_json(const SegmentationFigures& figures, const std::vector<std::string>& names) {
  nlohmann::json each = nlohmann::json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    each.push_back({{"name", names[i]},
                    {"iou", number_or_null(figures.class_iou[i])},
                    {"accuracy", number_or_null(figures.class_accuracy[i])}});
  }
  return {{"miou", figures.mean_iou},
          {"macc", figures.mean_accuracy},
          {"pixel_accuracy", figures.pixel_accuracy},
          {"classes", each}};
}

std::string to_text(const SegmentationFigures& figures, const std::vector<std::string>& names) {
  const auto percent = [](double value) {
    return std::isnan(value) ? std::string("-") : fmt::format("{:.2f}", 100 * value);
  };
  Table table{.title = {}, .header = {"class", "IoU %", "accuracy %"}, .rows = {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    table.rows.push_back(
        {names[i], percent(figures.class_iou[i]), percent(figures.class_accuracy[i])});
  }
  return table.to_text() + fmt::format("\nmIoU {} %, mAcc {} %, pixel accuracy {} %\n",
                                       percent(figures.mean_iou), percent(figures.mean_accuracy),
                                       percent(figures.pixel_accuracy));
}

}  // namespace

void run(const EvalSegmentationOptions& options, const RunContext& context) {
  make_folder_for(options.confusion);
  const std::vector<MapPair> pairs = pair_maps(options);
  const std::vector<std::string> names = class_names(options, pairs);
  const ConfusionMatrix matrix = compare(pairs, static_cast<std::int64_t>(names.size()), options);
  const SegmentationFigures figures = segmentation_figures(matrix);
  if (!options.confusion.empty()) {
    save_image(options.confusion, confusion_picture(matrix, names));
    context.write_configuration_beside(options.confusion);
  }
  print_stdout(context.json ? json_text(to_json(figures, names), 2) + "\n"
                            : to_text(figures, names));
}

}  // namespace addp
