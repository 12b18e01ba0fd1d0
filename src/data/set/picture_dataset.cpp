// Image folders, file lists and single pictures; and sets joined out of parts.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/run/progress.h"
#include "data/set/datasets.h"

namespace addp {
namespace {

class PictureDataset final : public Dataset {
 public:
  PictureDataset(SourcePtr source, const Layout& layout, const LayoutSplit& split, Task task)
      : source_(std::move(source)) {
    const bool classed = task == Task::kClassification;
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < split.pictures.size(); ++i) {
      const int id = split.classes.empty() ? -1 : split.classes[i];
      if (classed && id < 0) {
        ++left_out;
        problems_.push_back(
            {"no class", source_->path(), source_->names()[split.pictures[i]], "has no class"});
        continue;
      }
      entries_.push_back(split.pictures[i]);
      classes_.push_back(id);
    }
    if (classed) {
      check_missing(left_out, split.pictures.size(), source_->path(), "classes of pictures",
                    problems_.empty() ? "" : problems_.front().id);
    }
    class_names_ = layout.class_names;
    class_keys_ = layout.class_keys;
    description_ = fmt::format("{}: {}, {} pictures", source_->path(), layout.describe(),
                               format_count(entries_.size()));
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::string name(std::int64_t index) const override { return source_->describe(entry(index)); }
  int class_of(std::int64_t index) const override {
    return classes_.at(static_cast<std::size_t>(index));
  }
  Sample get(std::int64_t index) const override {
    Sample sample;
    sample.name = name(index);
    sample.id = index;
    sample.encoded = source_->read(entry(index));
    sample.class_id = class_of(index);
    return sample;
  }

 private:
  std::size_t entry(std::int64_t index) const {
    return entries_.at(static_cast<std::size_t>(index));
  }

  SourcePtr source_;
  std::vector<std::size_t> entries_;
  std::vector<int> classes_;
};

class JoinedDataset final : public Dataset {
 public:
  explicit JoinedDataset(std::vector<DatasetPtr> parts) : parts_(std::move(parts)) {
    class_names_ = parts_.front()->class_names();
    class_keys_ = parts_.front()->class_keys();
    for (const DatasetPtr& part : parts_) {
      if (part->class_keys() != class_keys_) {
        throw DataError("{}: its classes differ from those of {}; use the splits one by one",
                        part->description(), parts_.front()->description());
      }
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part->size());
      problems_.insert(problems_.end(), part->problems().begin(), part->problems().end());
      description_ += (description_.empty() ? "" : "; ") + part->description();
    }
  }

  std::int64_t size() const override { return ends_.back(); }
  Sample get(std::int64_t index) const override {
    const auto [part, inner] = locate(index);
    return part->get(inner);
  }
  std::string name(std::int64_t index) const override {
    const auto [part, inner] = locate(index);
    return part->name(inner);
  }
  int class_of(std::int64_t index) const override {
    const auto [part, inner] = locate(index);
    return part->class_of(inner);
  }

 private:
  std::pair<const Dataset*, std::int64_t> locate(std::int64_t index) const {
    const auto it = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto part = static_cast<std::size_t>(it - ends_.begin());
    return {parts_.at(part).get(), index - (part == 0 ? 0 : ends_[part - 1])};
  }

  std::vector<DatasetPtr> parts_;
  std::vector<std::int64_t> ends_;
};

}  // namespace

DatasetPtr make_picture_dataset(SourcePtr source, const Layout& layout, const LayoutSplit& split,
                                Task task) {
  return std::make_shared<PictureDataset>(std::move(source), layout, split, task);
}

DatasetPtr make_joined_dataset(std::vector<DatasetPtr> parts) {
  if (parts.size() == 1) return parts.front();
  return std::make_shared<JoinedDataset>(std::move(parts));
}

}  // namespace addp
