#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/run/progress.h"
#include "data/set/datasets.h"

namespace addp {
namespace {

constexpr double kMostParts = 256;  // that a picture counts for, whatever size it claims

// Sets the pixels of a mask; its runs go down the columns.
void paint(const Rle& mask, std::uint8_t label, GrayImage& labels) {
  std::size_t at = 0;
  const auto height = static_cast<std::size_t>(mask.height);
  for (std::size_t run = 0; run < mask.counts.size(); ++run) {
    for (std::size_t i = at; run % 2 == 1 && i < at + mask.counts[run]; ++i) {
      labels.row(static_cast<int>(i % height))[i / height] = label;
    }
    at += mask.counts[run];
  }
}

class CocoDataset final : public Dataset {
 public:
  CocoDataset(SourcePtr source, const Layout& layout, const LayoutSplit& split, Task task,
              const DatasetOptions& options)
      : source_(std::move(source)), task_(task) {
    const FileBytes json = source_->read(split.annotations);
    file_ = parse_coco(json.view, source_->describe(split.annotations));
    problems_ = std::move(file_.problems);
    if (!options.only_classes.empty()) file_.keep_categories(options.only_classes);
    if (task_ == Task::kSegmentation) {
      if (file_.categories.size() + 1 >= kIgnoreLabel) {
        throw DataError("{}: has {} classes, too many for a label map; choose some with --only",
                        file_.name, file_.categories.size());
      }
      class_names_.emplace_back("background");
      class_keys_.emplace_back("0");
    }
    for (const CocoCategory& category : file_.categories) {
      class_names_.push_back(category.name);
      class_keys_.push_back(std::to_string(category.id));
    }
    std::sort(file_.annotations.begin(), file_.annotations.end(),
              [](const CocoAnnotation& a, const CocoAnnotation& b) {
                return a.image_id != b.image_id ? a.image_id < b.image_id : a.id < b.id;
              });
    const std::size_t found = collect(find_coco_pictures(*source_, layout, split, file_), options);
    description_ = fmt::format("{}: COCO {}, {} pictures, {} annotations, {} classes",
                               source_->path(), split.name, format_count(found),
                               format_count(file_.annotations.size()), class_names_.size());
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(pictures_.size()); }
  std::string name(std::int64_t index) const override {
    return source_->describe(picture(index).entry);
  }
  Sample get(std::int64_t index) const override {
    const Picture& p = picture(index);
    const CocoImage& image = file_.images[p.image];
    Sample sample;
    sample.name = source_->describe(p.entry);
    sample.id = image.id;
    sample.encoded = source_->read(p.entry);
    if (task_ != Task::kDetection && task_ != Task::kSegmentation) return sample;
    sample.width = image.width;
    sample.height = image.height;
    for (std::size_t i = p.first; i < p.last; ++i) {
      const CocoAnnotation& a = file_.annotations[i];
      const CocoBox box = clip_box(a.box, image.width, image.height);
      if (box.width <= 0 || box.height <= 0) continue;
      sample.instances.push_back({file_.class_of(a.category_id), box,
                                  coco_mask(a.mask, image.height, image.width), a.area, a.crowd,
                                  a.id});
    }
    if (task_ == Task::kSegmentation) sample.labels = take_labels(sample);
    return sample;
  }

 private:
  // A label map of the masks: 0 where there is nothing, the class from 1 elsewhere. Where masks
  // overlap, the smaller thing is in front; what is marked as a crowd is ignored.
  static GrayImage take_labels(Sample& sample) {
    GrayImage labels(sample.width, sample.height);
    std::sort(sample.instances.begin(), sample.instances.end(),
              [](const Instance& a, const Instance& b) {
                return a.crowd != b.crowd ? a.crowd : a.area > b.area;
              });
    for (const Instance& instance : sample.instances) {
      const int label = instance.crowd ? kIgnoreLabel : instance.class_id + 1;
      paint(instance.mask, static_cast<std::uint8_t>(label), labels);
    }
    sample.instances.clear();
    return labels;
  }

  struct Picture {
    std::size_t image, entry;  // in the file, in the source
    std::size_t first, last;   // annotations
  };

  const Picture& picture(std::int64_t index) const {
    return pictures_.at(static_cast<std::size_t>(index));
  }

  static std::size_t parts_of(const CocoImage& image, double side) {
    if (side <= 0) return 1;
    const double area = static_cast<double>(image.width) * image.height;
    return static_cast<std::size_t>(std::clamp(std::round(area / (side * side)), 1.0, kMostParts));
  }

  // How many pictures there are, however often each counts.
  std::size_t collect(const std::vector<std::size_t>& entries, const DatasetOptions& options) {
    std::size_t at = 0, missing = 0, found = 0;
    std::string first_missing;
    for (std::size_t i = 0; i < file_.images.size(); ++i) {
      const CocoImage& image = file_.images[i];
      const std::size_t first = at;
      while (at < file_.annotations.size() && file_.annotations[at].image_id == image.id) ++at;
      if (entries[i] == kNoEntry) {
        problems_.push_back({"missing file", file_.name, fmt::format("image {}", image.id),
                             fmt::format("'{}' does not exist", image.file_name)});
        if (missing++ == 0) first_missing = image.file_name;
      } else if (at > first || !options.only_annotated) {
        pictures_.insert(pictures_.end(), parts_of(image, options.part_side),
                         {i, entries[i], first, at});
        ++found;
      }
    }
    check_missing(missing, file_.images.size(), file_.name, "pictures", first_missing);
    return found;
  }

  SourcePtr source_;
  Task task_;
  CocoFile file_;
  std::vector<Picture> pictures_;
};

}  // namespace

std::vector<std::size_t> find_coco_pictures(const PictureSource& source, const Layout& layout,
                                            const LayoutSplit& split, const CocoFile& file) {
  const std::string& json = source.names()[split.annotations];
  const std::string beside = json.substr(0, json.rfind('/') + 1);
  const std::string plain = canonical_split(split.name);
  std::vector<std::string> folders;
  for (const std::string& folder :
       {split.name + "/", "images/" + split.name + "/", plain + "/", "images/" + plain + "/",
        std::string("images/"), std::string()}) {
    folders.push_back(layout.prefix + folder);
  }
  folders.push_back(beside);
  std::string best = folders.front();
  std::size_t most = 0;
  constexpr std::size_t kProbes = 64;
  for (const std::string& folder : folders) {
    std::size_t hits = 0;
    for (std::size_t i = 0; i < std::min(kProbes, file.images.size()); ++i) {
      hits += source.find(folder + clean_entry_name(file.images[i].file_name)) ? 1 : 0;
    }
    if (hits > most) {
      most = hits;
      best = folder;
    }
  }
  std::vector<std::size_t> entries;
  for (const CocoImage& image : file.images) {
    entries.push_back(source.find(best + clean_entry_name(image.file_name)).value_or(kNoEntry));
  }
  return entries;
}

void check_missing(std::size_t missing, std::size_t total, const std::string& where,
                   const char* what, const std::string& first) {
  if (missing * 100 <= total) return;
  throw DataError(
      "{}: {} of {} {} are missing, the first is '{}'; more than one in a hundred is refused",
      where, missing, total, what, first);
}

DatasetPtr make_coco_dataset(SourcePtr source, const Layout& layout, const LayoutSplit& split,
                             Task task, const DatasetOptions& options) {
  return std::make_shared<CocoDataset>(std::move(source), layout, split, task, options);
}

}  // namespace addp
