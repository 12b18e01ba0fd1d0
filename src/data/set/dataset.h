// What every data set gives: a picture with whatever is known about it. A data set is const after
// opening and may be used by any number of threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/coco/coco.h"
#include "data/coco/rle.h"
#include "data/source/picture_source.h"
#include "image/codec/codec.h"
#include "image/image.h"

namespace addp {

// In every label map that a data set gives out, whatever number the file uses.
inline constexpr int kIgnoreLabel = 255;

struct Instance {
  int class_id = 0;
  CocoBox box;      // within the picture, of positive size
  Rle mask;         // at the picture's size; empty where the set has none
  double area = 0;  // as annotated: COCO's small/medium/large go by it
  bool crowd = false;
  std::int64_t id = 0;
};

struct Sample {
  std::string name;     // for messages: the file, or archive and member
  std::int64_t id = 0;  // COCO's picture id, else the index
  FileBytes encoded;    // JPEG, PNG or WebP bytes; empty where the picture comes decoded:
  Image image;
  int width = 0, height = 0;  // as annotated; 0 where nothing says so

  int class_id = -1;                // -1: none
  std::vector<Instance> instances;  // detection
  GrayImage labels;                 // segmentation: class numbers and kIgnoreLabel

  // The picture, decoded. With annotations of another size it is a DataError.
  Image picture(const DecodeOptions& options = {}) const;
};

enum class Task { kPictures, kClassification, kDetection, kSegmentation };
const char* task_name(Task task);

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  // A DataError if this one picture or its annotation is broken.
  virtual Sample get(std::int64_t index) const = 0;
  virtual std::string name(std::int64_t index) const = 0;
  virtual int class_of(std::int64_t index) const { return -1; }  // without reading the picture

  // For people; empty for a set without classes. class_keys() is how the set itself spells them
  // (folder names, COCO category ids), in the same order.
  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::vector<std::string>& class_keys() const { return class_keys_; }
  // "scenes-64/train: image folder with 6 classes, 14,034 pictures"
  const std::string& description() const { return description_; }
  const std::vector<DataProblem>& problems() const { return problems_; }

 protected:
  std::vector<std::string> class_names_, class_keys_;
  std::string description_;
  std::vector<DataProblem> problems_;
};

struct DatasetOptions {
  // Label maps. -1: found out: a class called void or unlabelled is ignored, 255 always is.
  int ignore_label = -1;
  // ADE20k counts classes from 1 and uses 0 for what is ignored. Unset: found out from the set.
  std::optional<bool> reduce_zero_label;
  int num_classes = 0;          // of label maps without classes.txt; 0: the largest label decides
  bool only_annotated = false;  // COCO: leave out pictures without annotations
  std::vector<std::string> only_classes{};  // COCO: the classes to keep, by name; empty: all
  // COCO: a picture counts as often as it holds squares of this side in pixels, so that training on
  // such parts sees all of a large one. 0: once.
  double part_side = 0;
  SourceLimits limits;
};

}  // namespace addp
