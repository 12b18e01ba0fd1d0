// Pictures with what a classifier takes them for.
#pragma once

#include <string>
#include <vector>

#include "image/image.h"

namespace addp {

struct ClassVerdict {
  std::string guess, truth;  // names
  double probability = 0;    // of the guess
};

// A sheet of pictures with the guess (green where it is right, red where not) and the truth below.
Image class_panel(const std::vector<Image>& pictures, const std::vector<ClassVerdict>& verdicts);

}  // namespace addp
