// Segmenters from and to files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "heads/segment/segmenter.h"

namespace addp {

void save_segmenter(const std::filesystem::path& path, const Segmenter& segmenter,
                    const std::string& provenance);
std::shared_ptr<Segmenter> load_segmenter(const std::filesystem::path& path);

}  // namespace addp
