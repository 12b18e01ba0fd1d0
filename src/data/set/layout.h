// What a folder or an archive holds: which pictures belong to which split and class, where
// the annotations are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/picture_source.h"

namespace addp {

enum class LayoutKind {
  kEmpty,
  kPictures,
  kList,
  kShards,
  kCoco,
  kSegmentation,
  kCifar10,
  kCifar100
};
const char* layout_name(LayoutKind kind);  // "image folder", "COCO", ...

inline constexpr std::size_t kNoEntry = static_cast<std::size_t>(-1);

struct LayoutSplit {
  std::string name;  // as the set spells it ("train2017"); empty where there are no splits
  std::vector<std::size_t> pictures;  // entries of the source; empty for COCO and CIFAR
  std::vector<int> classes;  // of each picture, -1 for none; empty for a split without classes
  std::vector<std::size_t> labels;     // segmentation: the label map of each picture, or kNoEntry
  std::size_t annotations = kNoEntry;  // COCO: the json file
  std::vector<std::size_t> files;      // CIFAR: the binaries
};

struct Layout {
  LayoutKind kind = LayoutKind::kEmpty;
  std::string prefix;                    // a single folder around everything, with its slash
  std::vector<LayoutSplit> splits;       // train first, then val, then test, then others by name
  std::vector<std::string> class_keys;   // folder names, sorted
  std::vector<std::string> class_names;  // for people: out of classes.txt where it names them
  std::size_t classes_file = kNoEntry;   // classes.txt
  bool ade20k = false;                   // labels count from 1, 0 is ignored

  bool has_classes() const { return !class_keys.empty(); }
  // "image folder with 6 classes; splits train, val"
  std::string describe() const;
};

// Never throws for a strange layout: whatever pictures there are make a flat folder.
Layout recognise_layout(const PictureSource& source);

// "train2017", "training", "Train" -> "train"; "valid" -> "val"; others in lower case
// without the year.
std::string canonical_split(std::string_view name);

// Lines of classes.txt: a name each, or tab-separated columns of which the last is the name.
struct ClassLine {
  std::vector<std::string> keys;  // the other columns
  std::string name;
};
std::vector<ClassLine> parse_class_lines(std::string_view text);

}  // namespace addp
