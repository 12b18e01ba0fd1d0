#include "commands/recognise/detect.h"

#include <map>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "data/coco/coco_results.h"
#include "heads/detect/detect_picture.h"
#include "heads/detect/detector_file.h"
#include "image/codec/codec.h"
#include "machine/machine.h"
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
      const std::string name = std::filesystem::path(image.file_name).filename().string();
      if (!ids_.emplace(name, image.id).second) {
        throw DataError("{}: has two pictures called {}, whose ids cannot be told apart", file_,
                        name);
      }
    }
  }

  std::int64_t of(const PictureInput& input, std::size_t index) const {
    if (file_.empty()) return static_cast<std::int64_t>(index);
    const auto found = ids_.find(input.file);
    if (found != ids_.end()) return found->second;
    throw DataError("{}: says nothing of the picture {}; omit --annotations, or that picture",
                    file_, input.source);
  }

 private:
  std::filesystem::path file_;
  std::map<std::string, std::int64_t> ids_;
};

// What is asked of each picture, and what is written about all of them.
class DetectRun {
 public:
  DetectRun(const DetectOptions& options, const RunContext& context)
      : options_(options),
        context_(context),
        detector_(load_detector(options.input.model)),
        ids_(options.annotations) {
    limits_.score = std::min(limits_.score, options.score);
    limits_.nms = options.nms;
    limits_.count = options.count;
    limits_.views = options.views;
  }

  void visit(const PictureInput& input, std::size_t index) {
    const DetectorConfig& config = detector_->config();
    const std::int64_t id = ids_.of(input, index);
    std::vector<Detection> certain;
    nlohmann::json listed = nlohmann::json::array();
    std::string text;
    for (const Detection& found : detect_picture(*detector_, input.image, limits_)) {
      const auto kind = static_cast<std::size_t>(found.class_id);
      results_.push_back(to_coco(found, id, config.category_ids.at(kind)));
      if (found.score < options_.score) continue;
      certain.push_back(found);
      listed.push_back(coco_results_to_json({results_.back()})[0]);
      listed.back()["class"] = config.class_names[kind];
      text += fmt::format("\n  {}", in_words(found, config.class_names[kind]));
    }
    const auto drawing = options_.input.out / (input.stem + ".png");
    save_image(drawing, draw_detections(input.image, certain, config.class_names));
    records_.push_back({{"picture", input.source},
                        {"image_id", id},
                        {"drawing", drawing.string()},
                        {"detections", listed}});
    if (context_.json) return;
    print_stdout(fmt::format("{}: {} found{}\n", input.source, certain.size(), text));
  }

  void finish() const {
    write_file_atomically(options_.input.out / "results.json",
                          json_text(coco_results_to_json(results_)) + "\n");
    if (context_.json) print_stdout(json_text(records_, 2) + "\n");
  }

 private:
  const DetectOptions& options_;
  const RunContext& context_;
  std::shared_ptr<Detector> detector_;
  PictureIds ids_;
  DetectorLimits limits_;
  nlohmann::json records_ = nlohmann::json::array();
  std::vector<CocoAnnotation> results_;
};

}  // namespace

void run(const DetectOptions& options, const RunContext& context) {
  use_machine(options.input.compute);
  DetectRun run(options, context);
  const PictureInputs inputs(options.input.pictures);
  inputs.make_output_folder(options.input.out);
  context.write_configuration(options.input.out);
  const std::int64_t left_out = inputs.for_each(
      "detect", [&](const PictureInput& input, std::size_t index) { run.visit(input, index); });
  run.finish();
  require_all_read(left_out, inputs.size());
}

}  // namespace addp
