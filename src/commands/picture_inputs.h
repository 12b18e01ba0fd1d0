// The pictures that a command is given: files and folders, and names for what is made of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "image/image.h"

namespace addp {

struct PictureInput {
  std::string source;  // for messages and records
  std::string stem;    // of the files made of it; unique among the inputs
  Image image;
};

// What was named, one behind the other, folders in the order of their names. A DataError names what
// cannot be read.
class PictureInputs {
 public:
  explicit PictureInputs(const std::vector<std::string>& paths);
  std::size_t size() const { return files_.size(); }
  PictureInput load(std::size_t index) const;

 private:
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> stems_;
};

}  // namespace addp
