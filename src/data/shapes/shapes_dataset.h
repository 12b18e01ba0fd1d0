// The procedural set as a data set like any other.
#pragma once

#include <memory>
#include <string>

#include "data/set/dataset.h"
#include "data/shapes/shapes.h"

namespace addp {

// `split` is train, val or test; a DataError for any other.
std::shared_ptr<const Dataset> make_shapes_dataset(const ShapesOptions& options,
                                                   const std::string& split, Task task);

}  // namespace addp
