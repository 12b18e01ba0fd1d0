// The service described in OpenAPI's form, from the declarations that parse its requests.
#pragma once

#include <nlohmann/json.hpp>

namespace addp {

nlohmann::json openapi_json();

}  // namespace addp
