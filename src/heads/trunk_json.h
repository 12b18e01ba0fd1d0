// The trunk's configuration as JSON, as model files keep it.
#pragma once

#include "heads/trunk.h"
#include "nn/config_json.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TrunkConfig, encoder, window, relative_positions,
                                                frozen_norm)

}  // namespace addp
