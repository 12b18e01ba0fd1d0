#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.h"
#include "base/run/progress.h"
#include "data/set/datasets.h"

namespace addp {
namespace {

bool means_ignored(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr std::array<std::string_view, 6> kNames{"void",   "unlabelled", "unlabeled",
                                                          "ignore", "ignored",    "ignore label"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::vector<std::string> read_class_names(const PictureSource& source, const Layout& layout) {
  std::size_t entry = layout.classes_file;
  const bool ade = entry == kNoEntry && layout.ade20k;
  if (ade) entry = source.find(layout.prefix + "objectInfo150.txt").value_or(kNoEntry);
  if (entry == kNoEntry) return {};
  const FileBytes bytes = source.read(entry);
  std::vector<std::string> names;
  for (const ClassLine& line :
       parse_class_lines({reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size()})) {
    if (ade && !line.keys.empty() && line.keys.front() == "Idx") continue;  // the headline
    names.push_back(line.name.substr(0, line.name.find(',')));
  }
  if (names.size() > 255) throw DataError("{}: has more than 255 classes", source.describe(entry));
  return names;
}

// The largest number in the label maps, 255 aside.
int largest_label(const PictureSource& source, const Layout& layout) {
  int largest = 0;
  for (const LayoutSplit& split : layout.splits) {
    for (const std::size_t entry : split.labels) {
      if (entry == kNoEntry) continue;
      const GrayImage labels = decode_labels(source.read(entry).view, source.describe(entry));
      for (const std::uint8_t value : labels.pixels) {
        if (value != kIgnoreLabel) largest = std::max<int>(largest, value);
      }
    }
  }
  return largest;
}

class SegmentationDataset final : public Dataset {
 public:
  SegmentationDataset(SourcePtr source, const Layout& layout, const LayoutSplit& split, Task task,
                      const DatasetOptions& options)
      : source_(std::move(source)), with_labels_(task == Task::kSegmentation) {
    if (with_labels_) rule_ = make_label_rule(*source_, layout, options);
    class_names_ = class_keys_ = rule_.class_names;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < split.pictures.size(); ++i) {
      if (with_labels_ && split.labels[i] == kNoEntry) {
        problems_.push_back({"missing file", source_->path(), source_->names()[split.pictures[i]],
                             "has no label map"});
        ++missing;
      } else {
        pictures_.push_back(split.pictures[i]);
        labels_.push_back(split.labels[i]);
      }
    }
    check_missing(missing, split.pictures.size(), source_->path(), "label maps",
                  missing > 0 ? problems_.front().id : "");
    description_ = fmt::format("{}: segmentation {}, {} pictures, {} classes", source_->path(),
                               split.name, format_count(pictures_.size()), class_names_.size());
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(pictures_.size()); }
  std::string name(std::int64_t index) const override {
    return source_->describe(pictures_.at(static_cast<std::size_t>(index)));
  }
  Sample get(std::int64_t index) const override {
    const auto at = static_cast<std::size_t>(index);
    Sample sample;
    sample.name = name(index);
    sample.id = index;
    sample.encoded = source_->read(pictures_.at(at));
    if (!with_labels_) return sample;
    const std::string label_name = source_->describe(labels_[at]);
    sample.labels = decode_labels(source_->read(labels_[at]).view, label_name);
    rule_.apply(sample.labels, label_name);
    sample.width = sample.labels.width;
    sample.height = sample.labels.height;
    return sample;
  }

 private:
  SourcePtr source_;
  bool with_labels_;
  LabelRule rule_;
  std::vector<std::size_t> pictures_, labels_;
};

}  // namespace

void LabelRule::apply(GrayImage& labels, const std::string& name) const {
  for (std::uint8_t& value : labels.pixels) {
    const int id = to_class[value];
    if (id < 0) {
      throw DataError(
          "{}: has the label {}, but there are {} classes; list them all in classes.txt, or give "
          "the number to ignore",
          name, value, class_names.size());
    }
    value = static_cast<std::uint8_t>(id);
  }
}

LabelRule make_label_rule(const PictureSource& source, const Layout& layout,
                          const DatasetOptions& options) {
  std::vector<std::string> names = read_class_names(source, layout);
  const bool from_one = options.reduce_zero_label.value_or(layout.ade20k);
  const int offset = from_one ? 1 : 0;  // the number of the first class
  if (names.empty()) {
    const int count =
        options.num_classes > 0 ? options.num_classes : largest_label(source, layout) + 1 - offset;
    for (int i = 0; i < count; ++i) names.push_back(fmt::format("class {}", i));
  }
  LabelRule rule;
  rule.to_class.assign(256, -1);
  if (from_one) rule.to_class[0] = kIgnoreLabel;
  for (std::size_t i = 0; i < names.size() && i + static_cast<std::size_t>(offset) < 255; ++i) {
    const int raw = static_cast<int>(i) + offset;
    const bool ignored =
        options.ignore_label >= 0 ? raw == options.ignore_label : means_ignored(names[i]);
    rule.to_class[static_cast<std::size_t>(raw)] =
        ignored ? kIgnoreLabel : static_cast<int>(rule.class_names.size());
    if (!ignored) rule.class_names.push_back(names[i]);
  }
  if (options.ignore_label >= 0 && options.ignore_label < 256) {
    rule.to_class[static_cast<std::size_t>(options.ignore_label)] = kIgnoreLabel;
  }
  rule.to_class[kIgnoreLabel] = kIgnoreLabel;
  if (rule.class_names.empty())
    throw DataError("{}: its label maps have no classes", source.path());
  return rule;
}

DatasetPtr make_segmentation_dataset(SourcePtr source, const Layout& layout,
                                     const LayoutSplit& split, Task task,
                                     const DatasetOptions& options) {
  return std::make_shared<SegmentationDataset>(std::move(source), layout, split, task, options);
}

}  // namespace addp
