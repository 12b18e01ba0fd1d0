// The trunk's configuration as JSON, as model files keep it.
#pragma once

#include "heads/backbone_json.h"
#include "heads/trunk.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TrunkConfig, backbone, window, relative_positions,
                                                frozen_norm)

}  // namespace addp
