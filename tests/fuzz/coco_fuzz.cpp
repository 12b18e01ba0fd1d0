// Any bytes as COCO annotations and detections: a DataError, or records that survive being written
// and read again.
#include <cstdint>

#include "base/error.h"
#include "base/json_text.h"
#include "data/coco/coco.h"
#include "data/coco/coco_results.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace addp;
  try {
    const CocoFile file = parse_coco({data, size}, "fuzz");
    const std::string text = json_text(coco_to_json(file));
    const CocoFile again = parse_coco(as_byte_span(text), "again");
    if (again.annotations.size() > file.annotations.size()) __builtin_trap();
  } catch (const DataError&) {
  }
  try {
    const auto detections = parse_coco_detections({data, size}, "fuzz");
    if (json_text(coco_results_to_json(detections)).empty()) __builtin_trap();
  } catch (const DataError&) {
  }
  return 0;
}
