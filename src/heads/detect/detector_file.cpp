#include "heads/detect/detector_file.h"

#include "heads/backbone/maps_file.h"
#include "heads/backbone/maps_json.h"
#include "nn/torch.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RpnConfig, strides, anchor_scale, ratios, convs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RoiConfig, cells, mask_cells, box_convs, box_width,
                                                mask_convs, mask_channels, level_scale)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DetectorConfig, maps, class_names, category_ids,
                                                size, magnify, channels, rpn, roi, proposals)

void save_detector(const std::filesystem::path& path, const Detector& detector,
                   const std::string& provenance) {
  save_on_maps(path, "detector", detector, detector.maps(), detector.config(), provenance);
}

std::shared_ptr<Detector> load_detector(const std::filesystem::path& path) {
  return load_on_maps<Detector, DetectorConfig>(path, "detector");
}

}  // namespace addp
