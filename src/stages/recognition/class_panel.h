// Pictures with what a classifier takes them for.
#pragma once

#include <memory>

#include "data/set/dataset.h"
#include "heads/classify/classifier.h"
#include "train/stage.h"

namespace addp {

// What the classifier says about a few held-out pictures.
Panel prediction_panel(Classifier& classifier, const std::shared_ptr<const Dataset>& validation);

}  // namespace addp
