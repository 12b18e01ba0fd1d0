// The data sets behind open_dataset(), one maker each.
#pragma once

#include <memory>
#include <string>

#include "data/set/dataset.h"
#include "data/set/layout.h"

namespace addp {

using SourcePtr = std::shared_ptr<const PictureSource>;
using DatasetPtr = std::shared_ptr<const Dataset>;

DatasetPtr make_picture_dataset(SourcePtr source, const Layout& layout, const LayoutSplit& split,
                                Task task);
DatasetPtr make_cifar_dataset(const PictureSource& source, const Layout& layout,
                              const LayoutSplit& split);
DatasetPtr make_coco_dataset(SourcePtr source, const Layout& layout, const LayoutSplit& split,
                             Task task, const DatasetOptions& options);
DatasetPtr make_segmentation_dataset(SourcePtr source, const Layout& layout,
                                     const LayoutSplit& split, Task task,
                                     const DatasetOptions& options);
// The parts one behind the other; their classes must agree.
DatasetPtr make_joined_dataset(std::vector<DatasetPtr> parts);

// `share` of the pictures of every class, at least one each, drawn by the seed; the set itself
// where the share is 1. Pictures without a class count as one class.
DatasetPtr share_of_labels(DatasetPtr dataset, double share, std::uint64_t seed);

// Raw numbers of label maps to classes, from classes.txt, the options and what the set is.
struct LabelRule {
  std::vector<std::string> class_names;
  // [256]: a class, kIgnoreLabel, or -1 for a number that must not occur.
  std::vector<int> to_class;

  // A DataError names the file and the first bad number.
  void apply(GrayImage& labels, const std::string& name) const;
};
LabelRule make_label_rule(const PictureSource& source, const Layout& layout,
                          const DatasetOptions& options);

// Where the pictures of a COCO file lie: entry of the source for each image, or kNoEntry.
std::vector<std::size_t> find_coco_pictures(const PictureSource& source, const Layout& layout,
                                            const LayoutSplit& split, const CocoFile& file);

// More than one in a hundred missing is a DataError; `what` as in "pictures".
void check_missing(std::size_t missing, std::size_t total, const std::string& where,
                   const char* what, const std::string& first);

}  // namespace addp
