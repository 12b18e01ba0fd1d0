#include "data/load/open_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "data/set/datasets.h"
#include "data/shapes/shapes_dataset.h"

namespace addp {
namespace {

std::vector<std::string> split_names(const Layout& layout) {
  std::vector<std::string> names;
  for (const LayoutSplit& split : layout.splits) {
    names.push_back(split.name.empty() ? "train" : canonical_split(split.name));
  }
  return names;
}

// "all" gives every split. Where validation is asked for, a test split stands in for it (CIFAR
// has no other).
std::vector<const LayoutSplit*> choose_splits(const Layout& layout, const std::string& wanted,
                                              const std::string& spec) {
  std::vector<const LayoutSplit*> chosen;
  const std::vector<std::string> names = split_names(layout);
  const auto choose = [&](const std::string& name) {
    for (std::size_t i = 0; i < names.size() && (chosen.empty() || wanted == "all"); ++i) {
      if (wanted == "all" || layout.splits[i].name == name || names[i] == canonical_split(name)) {
        chosen.push_back(&layout.splits[i]);
      }
    }
  };
  choose(wanted);
  if (chosen.empty() && canonical_split(wanted) == "val") choose("test");
  if (chosen.empty()) {
    throw DataError(
        "{}: has no split '{}' (it is: {}; it has: {}); put those pictures into a folder '{}' in "
        "it, or give another --data",
        spec, wanted, layout.describe(), fmt::join(names, ", "), wanted);
  }
  return chosen;
}

const char* expected_for(Task task) {
  switch (task) {
    case Task::kPictures:
      return "pictures (JPEG, PNG or WebP) in a folder, an archive, shards or a file list";
    case Task::kClassification:
      return "one folder per class (train/<class>/*.jpg, val/<class>/*.jpg), CIFAR binaries, a list "
             "with classes, shards with .cls members, or 'shapes'";
    case Task::kDetection:
      return "COCO (annotations/instances_<split>.json beside the pictures) or 'shapes'";
    case Task::kSegmentation:
      return "images/<split>/*.jpg with annotations/<split>/*.png and classes.txt, COCO's masks, or "
             "'shapes'";
  }
  return "";
}

bool suits(const Layout& layout, Task task) {
  switch (task) {
    case Task::kPictures:
      return layout.kind != LayoutKind::kEmpty;
    case Task::kClassification:
      return layout.kind == LayoutKind::kCifar10 || layout.kind == LayoutKind::kCifar100 ||
             layout.has_classes();
    case Task::kDetection:
      return layout.kind == LayoutKind::kCoco;
    case Task::kSegmentation:
      return layout.kind == LayoutKind::kSegmentation || layout.kind == LayoutKind::kCoco;
  }
  return false;
}

DatasetPtr make_dataset(const SourcePtr& source, const Layout& layout, const LayoutSplit& split,
                        Task task, const DatasetOptions& options) {
  switch (layout.kind) {
    case LayoutKind::kCifar10:
    case LayoutKind::kCifar100:
      return make_cifar_dataset(*source, layout, split);
    case LayoutKind::kCoco:
      return make_coco_dataset(source, layout, split, task, options);
    case LayoutKind::kSegmentation:
      return make_segmentation_dataset(source, layout, split, task, options);
    default:
      return make_picture_dataset(source, layout, split, task);
  }
}

}  // namespace

DatasetPtr open_dataset(const std::string& spec, const std::string& split, Task task,
                        const DatasetOptions& options) {
  if (is_shapes_spec(spec)) {
    if (!options.only_classes.empty()) {
      throw UsageError("{}: classes can be chosen from COCO's annotations only", spec);
    }
    const ShapesOptions shapes = parse_shapes_spec(spec);
    if (split != "all") return make_shapes_dataset(shapes, canonical_split(split), task);
    return make_joined_dataset(
        {make_shapes_dataset(shapes, "train", task), make_shapes_dataset(shapes, "val", task)});
  }
  const SourcePtr source = open_source(spec, options.limits);
  const Layout layout = recognise_layout(*source);
  if (!suits(layout, task)) {
    throw DataError("{}: holds {}, but {} needs {}", spec, layout.describe(), task_name(task),
                    expected_for(task));
  }
  std::vector<DatasetPtr> parts;
  for (const LayoutSplit* part : choose_splits(layout, split, spec)) {
    parts.push_back(make_dataset(source, layout, *part, task, options));
  }
  DatasetPtr dataset = make_joined_dataset(std::move(parts));
  if (dataset->size() == 0) throw DataError("{}: its split '{}' has no pictures", spec, split);
  warn_about(dataset->problems());
  return dataset;
}

std::vector<std::string> dataset_splits(const std::string& spec, const DatasetOptions& options) {
  if (is_shapes_spec(spec)) return {"train", "val"};
  return split_names(recognise_layout(*open_source(spec, options.limits)));
}

std::string held_out_split(const std::string& spec, const DatasetOptions& options) {
  const auto splits = dataset_splits(spec, options);
  for (const char* name : {"val", "test"}) {
    if (std::find(splits.begin(), splits.end(), name) != splits.end()) return name;
  }
  return "train";
}

DatasetPtr open_evaluation_set(const std::string& spec, const std::string& split, Task task) {
  if (!split.empty()) return open_dataset(spec, split, task);
  const std::string held_out = held_out_split(spec);
  if (held_out == "train") {
    warn("{}: has no split for validation; its training pictures are used instead", spec);
  }
  return open_dataset(spec, held_out, task);
}

}  // namespace addp
