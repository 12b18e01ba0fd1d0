#include "commands/detect.h"

#include <map>

#include "base/error.h"
#include "base/file_io.h"
#include "base/progress.h"
#include "data/coco_results.h"
#include "heads/detect_picture.h"
#include "image/codec.h"
#include "nn/machine.h"
#include "nn/torch.h"

namespace addp {
namespace {

// "car 97% at 12,40 33x18"
std::string in_words(const Detection& found, const std::string& name) {
  return fmt::format("{} {:.0f}% at {:.0f},{:.0f} {:.0f}x{:.0f}", name, 100 * found.score,
                     found.box.x, found.box.y, found.box.width, found.box.height);
}

// The ids of pictures: those of a COCO file, by file name, or the order of the inputs.
class PictureIds {
 public:
  explicit PictureIds(const std::filesystem::path& annotations) : file_(annotations) {
    if (file_.empty()) return;
    for (const CocoImage& image : load_coco(file_).images) {
      ids_[std::filesystem::path(image.file_name).filename().string()] = image.id;
    }
  }

  std::int64_t of(const PictureInput& input, std::size_t index) const {
    if (file_.empty()) return static_cast<std::int64_t>(index);
    const auto found = ids_.find(input.file);
    if (found != ids_.end()) return found->second;
    throw DataError("{}: says nothing of the picture {}; leave --annotations away, or that picture",
                    file_.string(), input.source);
  }

 private:
  std::filesystem::path file_;
  std::map<std::string, std::int64_t> ids_;
};

}  // namespace

void run_detect(const DetectCommandOptions& options, const RunContext& context) {
  use_machine(options.input.compute);
  const auto detector = load_detector(options.input.model);
  const DetectorConfig& config = detector->config();
  const PictureInputs inputs(options.input.pictures);
  const PictureIds ids(options.annotations);
  make_folder(options.input.out);
  DetectorLimits limits;
  limits.score = options.score;
  limits.nms = options.nms;
  limits.count = options.count;
  nlohmann::json records = nlohmann::json::array();
  std::vector<CocoAnnotation> results;
  Progress progress("detect", static_cast<std::int64_t>(inputs.size()), "pictures");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PictureInput input = inputs.load(i);
    const std::int64_t id = ids.of(input, i);
    const auto found = detect_picture(*detector, input.image, limits);
    const auto drawing = options.input.out / (input.stem + ".png");
    save_image(drawing, draw_detections(input.image, found, config.class_names));
    std::vector<CocoAnnotation> own;
    std::string text;
    for (const Detection& detection : found) {
      const auto kind = static_cast<std::size_t>(detection.class_id);
      own.push_back(to_coco(detection, id, config.category_ids.at(kind)));
      text += fmt::format("\n  {}", in_words(detection, config.class_names[kind]));
    }
    nlohmann::json record = {{"picture", input.source},
                             {"image_id", id},
                             {"drawing", drawing.string()},
                             {"detections", coco_results_to_json(own)}};
    for (std::size_t k = 0; k < found.size(); ++k) {
      record["detections"][k]["class"] =
          config.class_names[static_cast<std::size_t>(found[k].class_id)];
    }
    records.push_back(std::move(record));
    results.insert(results.end(), own.begin(), own.end());
    if (!context.json) {
      print_stdout(fmt::format("{}: {} found{}\n", input.source, found.size(), text));
    }
    progress.advance();
  }
  progress.finish();
  write_file_atomically(options.input.out / "results.json",
                        coco_results_to_json(results).dump() + "\n");
  if (context.json) print_stdout(records.dump(2) + "\n");
}

}  // namespace addp
