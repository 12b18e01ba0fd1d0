// Detectors from and to files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "heads/detect/detector.h"

namespace addp {

void save_detector(const std::filesystem::path& path, const Detector& detector,
                   const std::string& provenance);
std::shared_ptr<Detector> load_detector(const std::filesystem::path& path);

}  // namespace addp
