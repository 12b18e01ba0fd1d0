// What is written into a picture's file so that it can be made again.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "generate/generator.h"

namespace addp {

// The options of the sampler by their names, as the command line takes them.
std::vector<std::pair<std::string, std::string>> sampler_settings(SamplerOptions sampler);

// A model's share of it, with the hash of its file, which is read once.
class ModelRecipe {
 public:
  explicit ModelRecipe(const Generator& model);
  // Texts "addp:..." for picture `number` of a plan.
  std::map<std::string, std::string> of(const GenerationPlan& plan, std::int64_t number) const;

 private:
  std::map<std::string, std::string> model_;
  std::vector<std::string> class_names_;
};

}  // namespace addp
