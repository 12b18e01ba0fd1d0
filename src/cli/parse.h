// The command line of one command: options, --config recipes, key=value overrides.
#pragma once

#include <string>
#include <vector>

#include "base/option/options.h"

namespace addp {

struct CommonFlags {
  bool help = false;
  bool help_all = false;
  bool json = false;
  bool quiet = false;
  bool print_config = false;
  std::vector<std::string> config;

  void describe(Options& options);
};

// Fills `options` from the recipes, then from `arguments` (what follows the command's name). A
// UsageError names the argument and suggests the near option.
void parse_arguments(const std::vector<std::string>& arguments, Options& options,
                     CommonFlags& flags);

}  // namespace addp
