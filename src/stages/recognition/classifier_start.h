// A classifier before its first step, for fine-tuning and for probing.
#pragma once

#include <memory>

#include "data/set/dataset.h"
#include "heads/classify/classifier.h"
#include "stages/recognition/backbone_start.h"

namespace addp {

// A classifier of what `dataset` shows on the encoder of `start`; the classes of `config` are set
// here. `stream` draws the weights that no file has.
std::shared_ptr<Classifier> start_classifier(ClassifierConfig config, const BackboneStart& start,
                                             const Dataset& dataset, HeadStart head,
                                             const RandomStream& stream);

}  // namespace addp
