// Training that goes on from a trained network instead of random weights.
#pragma once

#include <string>

#include "nn/types.h"

namespace addp {

// The weights of `trained`, the network of the file `source`, into `network`. What only `trained`
// has (the shortcut of fast sampling, say) is left behind; a UsageError where it lacks something or
// has other sizes.
void start_from(torch::nn::Module& network, const torch::nn::Module& trained,
                const std::string& source);

}  // namespace addp
