#include "commands/recognise/segment.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "heads/segment/segment_picture.h"
#include "heads/segment/segmenter_file.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "image/draw/overlay.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Classes that occur with their share of the pixels, the largest first.
std::vector<std::pair<int, double>> class_shares(const GrayImage& labels) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t label : labels.pixels) ++counts[label];
  std::vector<std::pair<int, double>> shares;
  for (int label = 0; label < 256; ++label) {
    const std::size_t count = counts[static_cast<std::size_t>(label)];
    if (count == 0) continue;
    shares.emplace_back(label,
                        static_cast<double>(count) / static_cast<double>(labels.pixels.size()));
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

constexpr Color kUnpainted{200, 200, 200};  // in the legend

// The overlay with its colours explained below it.
Image with_legend(const Image& overlay, const std::vector<std::pair<int, double>>& shares,
                  const std::vector<std::string>& names) {
  const int line = measure_text("A").height + 6;
  std::vector<std::string> texts;
  int width = overlay.width;
  for (const auto& [label, share] : shares) {
    texts.push_back(fmt::format("{} {:.1f}%", names[static_cast<std::size_t>(label)], 100 * share));
    width = std::max(width, measure_text(texts.back()).width + 8);
  }
  Image sheet = make_canvas(width, overlay.height + line * static_cast<int>(texts.size()), kWhite);
  paste(sheet, overlay, 0, 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    draw_label(sheet, 2, overlay.height + 2 + line * static_cast<int>(i), texts[i],
               label_color(shares[i].first, names).value_or(kUnpainted));
  }
  return sheet;
}

}  // namespace

void run(const SegmentOptions& options, const RunContext& context) {
  use_machine(options.input.compute);
  const auto segmenter = load_segmenter(options.input.model);
  const auto& names = segmenter->config().class_names;
  const PictureInputs inputs(options.input.pictures);
  inputs.make_output_folder(options.input.out);
  context.write_configuration(options.input.out);
  const LabelingOptions how{
      .short_side = options.short_side < 0 ? segmenter->config().size : options.short_side,
      .scales = options.scales,
      .flip = options.flip};
  nlohmann::json records = nlohmann::json::array();
  const auto segment = [&](const PictureInput& input, std::size_t) {
    const GrayImage labels = segment_picture(*segmenter, input.image, how);
    const auto shares = class_shares(labels);
    const auto overlay_path = options.input.out / (input.stem + ".png"),
               label_path = options.input.out / (input.stem + "-labels.png");
    save_image(overlay_path,
               with_legend(overlay_labels(input.image, labels, names), shares, names));
    write_file_atomically(label_path, encode_png(labels));
    nlohmann::json record = {{"picture", input.source},
                             {"overlay", overlay_path.string()},
                             {"labels", label_path.string()},
                             {"classes", nlohmann::json::object()}};
    std::string text;
    for (const auto& [label, share] : shares) {
      const std::string& name = names[static_cast<std::size_t>(label)];
      record["classes"][name] = share;
      text += fmt::format("{} {} {:.1f}%", text.empty() ? "" : ",", name, 100 * share);
    }
    records.push_back(record);
    if (!context.json) print_stdout(fmt::format("{}:{}\n", input.source, text));
  };
  const std::int64_t left_out = inputs.for_each("segment", segment);
  if (context.json) print_stdout(json_text(records, 2) + "\n");
  require_all_read(left_out, inputs.size());
}

}  // namespace addp
