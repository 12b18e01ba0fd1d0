// The stages that learn to recognise, by the options that describe them.
#pragma once

#include <memory>

#include "stages/recognition/classifier_options.h"
#include "stages/recognition/detector_options.h"
#include "stages/recognition/segmenter_options.h"
#include "train/stage.h"

namespace addp {

std::unique_ptr<Stage> make_stage(const ClassifierTrainOptions& options, World& world);
std::unique_ptr<Stage> make_stage(const ProbeTrainOptions& options, World& world);
std::unique_ptr<Stage> make_stage(const SegmenterTrainOptions& options, World& world);
std::unique_ptr<Stage> make_stage(const DetectorTrainOptions& options, World& world);

}  // namespace addp
