#include "heads/segment/segmenter_file.h"

#include "heads/backbone/maps_file.h"
#include "heads/backbone/maps_json.h"
#include "nn/torch.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SegmenterConfig, maps, class_names, channels,
                                                auxiliary_channels, size, dropout)

void save_segmenter(const std::filesystem::path& path, const Segmenter& segmenter,
                    const std::string& provenance) {
  save_on_maps(path, "segmenter", segmenter, segmenter.maps(), segmenter.config(), provenance);
}

std::shared_ptr<Segmenter> load_segmenter(const std::filesystem::path& path) {
  return load_on_maps<Segmenter, SegmenterConfig>(path, "segmenter");
}

}  // namespace addp
