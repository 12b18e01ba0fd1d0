#include "commands/start/show_shapes.h"

#include "data/shapes/shapes.h"
#include "heads/detect/detect_picture.h"
#include "heads/detect/detector_file.h"
#include "heads/segment/segment_picture.h"
#include "heads/segment/segmenter_file.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "image/draw/overlay.h"
#include "image/resize/resize.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kPictures = 6;
constexpr double kCertain = 0.5;  // what is drawn
constexpr int kShownSide = 192;

// Scenes that no training has seen: of a split of their own.
std::vector<Image> fresh_pictures(const DemoOptions& options, std::int64_t side) {
  ShapesOptions shapes;
  shapes.size = static_cast<int>(side);
  shapes.seed = static_cast<std::uint64_t>(options.seed);
  std::vector<Image> pictures;
  for (std::int64_t i = 0; i < kPictures; ++i) {
    pictures.push_back(draw_shapes(shapes, "demo", i).image);
  }
  return pictures;
}

// Every class in the colour that label maps have it in.
Image legend(const std::vector<std::string>& names) {
  std::vector<Image> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto colour = label_color(static_cast<int>(i), names);
    if (!colour) continue;
    const TextSize size = measure_text(names[i]);
    Image part = make_canvas(size.width + 8, size.height + 8, *colour);
    draw_label(part, 3, 3, names[i], *colour);
    parts.push_back(part);
  }
  return make_grid(parts, static_cast<int>(parts.size()), 4);
}

}  // namespace

void add_detections(const DemoOptions& options, HtmlPage& page) {
  const auto detector = load_detector("shapes/detector");
  std::vector<Image> drawn;
  std::size_t found = 0;
  for (const Image& picture : fresh_pictures(options, detector->config().size)) {
    const auto things = detect_picture(*detector, picture, {.score = kCertain});
    found += things.size();
    drawn.push_back(draw_detections(picture, things, detector->config().class_names));
  }
  const Image sheet = make_grid(drawn, 3, 6);
  save_image(options.out / "detected.png", sheet);
  page.paragraph(
      "A small network with a head that finds things: where each one is, which pixels "
      "belong to it, what it is, and how sure that is. The scenes were drawn a moment ago.");
  page.picture(sheet, fmt::format("{} things in {} pictures.", found, drawn.size()), 1,
               Look::kPhoto);
}

void add_label_maps(const DemoOptions& options, HtmlPage& page) {
  const auto segmenter = load_segmenter("shapes/segmenter");
  const LabelingOptions how{.short_side = segmenter->config().size};
  std::vector<Image> pictures, overlays;
  for (const Image& picture : fresh_pictures(options, segmenter->config().size)) {
    const GrayImage labels = segment_picture(*segmenter, picture, how);
    const auto shown = [](const Image& image) {
      return resize(image, kShownSide, kShownSide, Resample::kNearest);
    };
    pictures.push_back(shown(picture));
    overlays.push_back(shown(overlay_labels(picture, labels, segmenter->config().class_names)));
  }
  std::vector<Image> all = pictures;
  all.insert(all.end(), overlays.begin(), overlays.end());
  page.paragraph("And one with a head that gives every pixel a class.");
  page.picture(make_grid(all, static_cast<int>(kPictures), 6),
               "Above: pictures. Below: the classes of their pixels as colours.", 1, Look::kPhoto);
  page.picture(legend(segmenter->config().class_names), "The classes and their colours.", 1,
               Look::kPhoto);
}

}  // namespace addp
