// Archives, file lists, COCO files and masks are foreign bytes: each input ends in data that can be
// walked through or in an Error. The first byte chooses the reader.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/printable.h"
#include "data/coco/coco.h"
#include "data/coco/rle.h"
#include "data/inspect/inspect.h"
#include "data/set/layout.h"
#include "data/shapes/shapes.h"
#include "data/source/picture_source.h"

namespace {

using namespace addp;

void walk_archive(ByteSpan bytes) {
  SourceLimits limits;
  limits.max_entries = 1000;
  limits.max_entry_bytes = limits.max_unpacked_bytes = 1 << 20;
  // A copy of its own, so that the address sanitizer sees reads beyond the end.
  const auto source =
      open_archive_bytes(FileBytes::own(Bytes(bytes.begin(), bytes.end())), "fuzz", limits);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < source->size(); ++i) {
    for (const std::uint8_t byte : source->read(i).view) sum += byte;
    sum += printable(source->describe(i)).size();
  }
  static volatile std::uint64_t sink;
  sink = sum;
  recognise_layout(*source);
  recognise_layout(*join_shards("fuzz", {source}));
}

void walk_coco(ByteSpan bytes) {
  CocoLimits limits;
  limits.max_records = 1000;
  limits.max_problems = 100;
  const CocoFile file = parse_coco(bytes, "fuzz", limits);
  for (const CocoAnnotation& a : file.annotations) {
    const CocoImage* image = file.find_image(a.image_id);
    if (std::int64_t{image->width} * image->height > 1 << 16) continue;
    const Rle mask = coco_mask(a.mask, image->height, image->width);
    if (mask.empty()) continue;
    rle_decode(mask);
    rle_bounds(mask);
    rle_iou(mask, mask, a.crowd);
  }
}

void walk_mask(ByteSpan bytes) {
  if (bytes.size() < 2) return;
  const int height = bytes[0] + 1, width = bytes[1] + 1;
  const std::string text(bytes.begin() + 2, bytes.end());
  const Rle mask = rle_from_string(text, height, width);
  if (rle_encode(rle_decode(mask)).height != height) __builtin_trap();
  if (rle_from_string(rle_to_string(mask), height, width) != mask) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan bytes(data + 1, size - 1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    switch (data[0]) {
      case 'c':
        walk_coco(bytes);
        break;
      case 'd':
        parse_coco_detections(bytes, "fuzz");
        break;
      case 'l':
        parse_file_list(text, "fuzz");
        parse_class_lines(text);
        if (text.size() < 64) expand_shards(std::string(text));
        break;
      case 'm':
        walk_mask(bytes);
        break;
      case 's':
        parse_shapes_spec("shapes:" + std::string(text));
        break;
      default:
        walk_archive(bytes);
    }
  } catch (const Error&) {
  }
  return 0;
}
