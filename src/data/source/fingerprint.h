// Which pictures --data names at this moment, without reading them.
#pragma once

#include <string>

namespace addp {

// A short text that changes with the names, sizes and times of the files; for the procedural set,
// its name is all there is. What is computed of pictures is kept under it.
std::string fingerprint(const std::string& data);

}  // namespace addp
