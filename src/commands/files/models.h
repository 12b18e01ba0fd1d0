// addp models: the models that have names, with their figures and licences.
#pragma once

#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct ModelsOptions {
  std::vector<std::string> names;
  bool card = false;

  void describe(Options& o) {
    o.add("names", names, "sets or models to list, as cells or cells/addp; none: all")
        .positional()
        .metavar("NAME...");
    o.add("card", card, "print the card of a set: data, licence, recipes and figures, as Markdown");
  }
};

void run(const ModelsOptions& options, const RunContext& context);

}  // namespace addp
