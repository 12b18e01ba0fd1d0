// What is written into a picture's file so that it can be made again.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "generate/generator.h"

namespace addp {

// Options by their names, as the command line takes them.
using Settings = std::vector<std::pair<std::string, std::string>>;
Settings sampler_settings(SamplerOptions sampler);
Settings fill_settings(FillOptions fill);

// Texts "addp:..." for picture `number` of a plan.
std::map<std::string, std::string> picture_recipe(const Generator& model,
                                                  const GenerationPlan& plan, std::int64_t number);

}  // namespace addp
