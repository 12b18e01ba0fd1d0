#include "heads/dense_file.h"
#include "heads/detector.h"
#include "heads/trunk_json.h"
#include "nn/machine.h"
#include "nn/torch.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RpnConfig, strides, anchor_scale, ratios, convs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RoiConfig, cells, mask_cells, box_convs, box_width,
                                                mask_convs, mask_channels, level_scale)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(DetectorConfig, trunk, class_names, category_ids,
                                                size, channels, rpn, roi, proposals)

void save_detector(const std::filesystem::path& path, const Detector& detector,
                   const std::string& provenance) {
  save_dense(path, "detector", detector, detector.trunk(), detector.config(), provenance);
}

std::shared_ptr<Detector> load_detector(const std::filesystem::path& path) {
  const ModelFile file = open_dense(path, "detector");
  const auto config = parse_config<DetectorConfig>(file.config, file.source);
  auto detector = placed(std::make_shared<Detector>(config, dense_tokenizer(file, config.trunk)));
  load_dense(*detector, file);
  return detector;
}

}  // namespace addp
