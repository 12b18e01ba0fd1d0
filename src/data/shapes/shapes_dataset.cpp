#include "data/shapes/shapes_dataset.h"

#include <fmt/format.h>

#include "base/error.h"

namespace addp {
namespace {

class ShapesDataset final : public Dataset {
 public:
  ShapesDataset(const ShapesOptions& options, std::string split, Task task)
      : options_(options), split_(std::move(split)), task_(task) {
    class_names_ = shape_kind_names();
    if (task == Task::kSegmentation) class_names_.insert(class_names_.begin(), "background");
    class_keys_ = class_names_;
    description_ = fmt::format("shapes {}: {} pictures of {} x {}, seed {}", split_, size(),
                               options_.size, options_.size, options_.seed);
  }

  std::int64_t size() const override {
    return split_ == "train" ? options_.count : options_.val_count();
  }
  std::string name(std::int64_t index) const override {
    return fmt::format("shapes:seed={} {} {}", options_.seed, split_, index);
  }
  int class_of(std::int64_t index) const override { return shapes_class(options_, split_, index); }
  Sample get(std::int64_t index) const override {
    ShapesPicture picture = draw_shapes(options_, split_, index);
    Sample sample;
    sample.name = name(index);
    sample.id = index;
    sample.image = std::move(picture.image);
    sample.width = sample.height = options_.size;
    sample.class_id = picture.class_id;
    if (task_ == Task::kDetection) sample.instances = std::move(picture.instances);
    if (task_ == Task::kSegmentation) sample.labels = std::move(picture.labels);
    return sample;
  }

 private:
  ShapesOptions options_;
  std::string split_;
  Task task_;
};

}  // namespace

std::shared_ptr<const Dataset> make_shapes_dataset(const ShapesOptions& options,
                                                   const std::string& split, Task task) {
  if (split != "train" && split != "val" && split != "test") {
    throw DataError("shapes: has no split '{}'; ask for train, val or test", split);
  }
  return std::make_shared<ShapesDataset>(options, split, task);
}

}  // namespace addp
