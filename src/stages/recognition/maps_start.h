// The encoder for maps that the options of a segmenter or a detector ask for.
#pragma once

#include <memory>
#include <optional>

#include "data/load/picture_pass.h"
#include "heads/backbone/maps.h"
#include "processes/distributed.h"
#include "stages/recognition/maps_options.h"
#include "train/options.h"

namespace addp {

// The maps that the options describe, for square pictures of `size`, and their weights if --model
// names any.
struct MapsStart {
  MapsConfig config;
  std::shared_ptr<const Vqgan> tokenizer;  // of maps that take tokens
  std::optional<ModelFile> pretrained{};
};
MapsStart start_maps(const MapsOptions& options, std::int64_t size);

// The validation pictures that this process measures, and the few that panels show. Both leave out
// any number of broken ones and do not end a training.
PicturePass measured_pictures(const MapsOptions& options, const TrainOptions& train,
                              const World& world);
PicturePass shown_pictures();

}  // namespace addp
