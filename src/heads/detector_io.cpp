#include "base/error.h"
#include "heads/detector.h"
#include "heads/trunk_json.h"
#include "nn/load.h"
#include "nn/torch.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RpnConfig, strides, anchor_scale, ratios, convs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RoiConfig, cells, mask_cells, box_convs, box_width,
                                                mask_convs, mask_channels, level_scale)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DetectorConfig, trunk, class_names, category_ids,
                                                size, channels, rpn, roi)

void save_detector(const std::filesystem::path& path, const Detector& detector,
                   const std::string& provenance) {
  save_model(path, {.kind = "detector", .tensors = state_of(detector), .config = detector.config()},
             provenance);
}

std::shared_ptr<Detector> load_detector(const std::filesystem::path& path) {
  const ModelFile file = open_model(path);
  if (file.kind != "detector") {
    throw DataError("{} is no detector: give a model that 'addp train detector' wrote",
                    file.source);
  }
  auto detector =
      std::make_shared<Detector>(parse_config<DetectorConfig>(file.config, file.source));
  load_strictly(*detector, file.tensors, {.source = file.source});
  detector->eval();
  return detector;
}

}  // namespace addp
