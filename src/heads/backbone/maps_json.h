// The configuration of maps as JSON, as model files keep it.
#pragma once

#include "heads/backbone/backbone_json.h"
#include "heads/backbone/maps.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(MapsConfig, backbone, window, relative_positions,
                                                frozen_norm)

}  // namespace addp
