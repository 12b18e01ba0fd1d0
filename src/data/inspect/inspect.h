// What `addp doctor` says about a data set: its layout, what it counts, and every broken or odd
// picture and bad annotation by name. Every picture is decoded in full, since nothing less finds
// a truncated one.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data/set/dataset.h"
#include "data/set/layout.h"

namespace addp {

struct InspectOptions {
  int threads = 0;       // 0: one per core
  bool progress = true;  // a bar on stderr
  DatasetOptions data;
  int tiny_side = 16;                     // a shorter side is odd
  std::int64_t huge_pixels = 40'000'000;  // more is odd: slow to train on
};

struct SplitReport {
  std::string name;  // empty where there are no splits
  std::int64_t pictures = 0, broken = 0, annotations = 0;
  // Pictures, or annotations for COCO; empty without classes.
  std::vector<std::int64_t> class_counts;
};

struct DatasetReport {
  std::string path;
  LayoutKind kind = LayoutKind::kEmpty;
  std::string layout;  // in words
  std::vector<SplitReport> splits;
  std::vector<std::string> class_names;
  std::vector<std::string> tasks;  // what it can be used for
  std::int64_t pictures = 0;
  int min_width = 0, max_width = 0, min_height = 0, max_height = 0;
  // "256x256" and how often, most frequent first.
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::map<std::string, std::int64_t> formats;  // "JPEG", "PNG", "WebP"
  // Broken pictures cannot be used; odd ones can (grey, CMYK, 16-bit, tiny, huge,
  // wrong extension, rotated).
  std::vector<DataProblem> broken, odd, annotations;

  // False when a run on it would end with an error: nothing there, or too much broken.
  bool usable() const;
};

DatasetReport inspect_dataset(const std::string& spec, const InspectOptions& options = {});

// `list` is how many problems to name at the most, of each sort; all are counted.
nlohmann::json report_to_json(const DatasetReport& report, std::size_t list = 1000);
std::string report_to_text(const DatasetReport& report, std::size_t list = 20);

}  // namespace addp
