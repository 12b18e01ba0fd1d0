// Which of a model's classes the classes of a data set are: by the set's own spelling (folder
// names), then by name. Sets such as ImageNet-A and -R show a part of the classes only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/set/dataset.h"

namespace addp {

struct ModelClasses {
  std::int64_t count = 0;
  std::vector<std::string> names, keys;  // empty where the model does not say

  std::string name(std::int64_t index) const;  // "class 7" where there are no names
};

// Names from a file with one line per class ("n01440764<tab>tench"), for models that hold none;
// more or fewer lines than classes are a DataError.
void read_class_file(ModelClasses& classes, const std::filesystem::path& path);

// The model's class of each class of the set. One that the model does not know is a DataError. A
// model without names takes a set with as many classes in its order.
std::vector<std::int64_t> match_classes(const ModelClasses& model, const Dataset& dataset);

}  // namespace addp
