#include "reproduce/plan/setting.h"

#include "base/error.h"
#include "data/load/open_dataset.h"
#include "weights/find_weights.h"

namespace addp {
namespace {

// Pictures to learn from; 0 where the set does not suit the task.
std::int64_t pictures_for(const std::string& data, Task task) {
  if (data.empty()) return 0;
  return open_dataset(data, "train", task)->size();
}

bool has_classes(const std::string& data) {
  try {
    return open_dataset(data, "train", Task::kClassification)->class_names().size() > 1;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

void look_at_data(Setting& setting) {
  setting.pictures = open_dataset(setting.data, "train", Task::kPictures)->size();
  setting.held_out_split = held_out_split(setting.data);
  setting.held_out = open_dataset(setting.data, setting.held_out_split, Task::kPictures)->size();
  setting.classes = has_classes(setting.data);
  setting.dense_pictures = pictures_for(setting.dense, Task::kDetection);
  setting.map_pictures = pictures_for(setting.maps, Task::kSegmentation);
  setting.fid = find_weights("inception", {}).has_value();
  if (setting.samples == 0) setting.samples = setting.scale.samples;
}

}  // namespace addp
