#include "heads/segment/segmenter_file.h"

#include "heads/backbone/maps_file.h"
#include "heads/backbone/maps_json.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(SegmenterConfig, maps, class_names, channels,
                                                auxiliary_channels, size, dropout)

void save_segmenter(const std::filesystem::path& path, const Segmenter& segmenter,
                    const std::string& provenance) {
  save_on_maps(path, "segmenter", segmenter, segmenter.maps(), segmenter.config(), provenance);
}

std::shared_ptr<Segmenter> load_segmenter(const std::filesystem::path& path) {
  const ModelFile file = open_on_maps(path, "segmenter");
  const auto config = parse_config<SegmenterConfig>(file.config, file.source);
  auto segmenter =
      on_device(std::make_shared<Segmenter>(config, maps_tokenizer(file, config.maps)));
  load_on_maps(*segmenter, file);
  return segmenter;
}

}  // namespace addp
