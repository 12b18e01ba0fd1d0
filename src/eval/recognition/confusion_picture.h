// A confusion matrix to look at.
#pragma once

#include <string>
#include <vector>

#include "eval/recognition/confusion_matrix.h"
#include "image/image.h"

namespace addp {

// Rows are the truth, columns what was predicted; a cell's darkness is its share of the row. Up to
// 40 classes have their names beside the rows and the share in percent inside the cells; of more,
// the cells alone are shown.
Image confusion_picture(const ConfusionMatrix& matrix, const std::vector<std::string>& names);

}  // namespace addp
