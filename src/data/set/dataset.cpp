#include "data/set/dataset.h"

#include "base/error.h"
#include "base/name_of.h"

namespace addp {

Image Sample::picture(const DecodeOptions& options) const {
  if (encoded.owner == nullptr) return image;
  if (encoded.view.empty()) throw DataError("{}: is empty", name);
  Image decoded = decode_image(encoded.view, name, options);
  const bool scaled = options.min_side > 0;
  if (!scaled && width > 0 && (decoded.width != width || decoded.height != height)) {
    throw DataError("{}: has {} x {} pixels, but its annotation is for {} x {}", name,
                    decoded.width, decoded.height, width, height);
  }
  return decoded;
}

const char* task_name(Task task) {
  static constexpr Named<Task> kNames[] = {{Task::kPictures, "pictures"},
                                           {Task::kClassification, "classification"},
                                           {Task::kDetection, "detection"},
                                           {Task::kSegmentation, "segmentation"}};
  return name_of(kNames, task);
}

}  // namespace addp
