// Requests are plain structs with describe(), as the options of commands are: from the one
// declaration come the names a request takes, its checks, the page's help and the OpenAPI text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/option/options.h"
#include "server/http/fields.h"

namespace addp {

// Sets what the fields name. An unknown name, a wrong value or one out of range is a UsageError.
void fill(Options& options, const Fields& fields);

template <class Request>
Request parse_request(const Fields& fields) {
  Request request;
  Options options;
  request.describe(options);
  fill(options, fields);
  return request;
}

// [{name, type, default, help, minimum, maximum, choices}], for the page.
nlohmann::json settings_json(const Options& options);
// The properties of a JSON schema.
nlohmann::json schema_json(const Options& options);

template <class Request>
nlohmann::json schema_of() {
  Request request;
  Options options;
  request.describe(options);
  return schema_json(options);
}

}  // namespace addp
