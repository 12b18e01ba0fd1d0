// What addp doctor asks about a model: whether the commands that use it can load it. It builds the
// network, so it is a command of libaddp.so.
#pragma once

#include <filesystem>
#include <string>

#include "base/run/run_context.h"

namespace addp {

struct CheckModelOptions {
  std::filesystem::path path;
  std::string kind;  // as recognise() says
};

// A DataError where it cannot be loaded. Kinds that no command loads as a whole are not looked at.
void run(const CheckModelOptions& options, const RunContext& context);

}  // namespace addp
