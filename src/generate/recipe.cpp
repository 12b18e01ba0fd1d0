#include "generate/recipe.h"

#include "base/error.h"
#include "base/file_io.h"
#include "base/sha256.h"
#include "base/version.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

std::vector<std::pair<std::string, std::string>> sampler_settings(SamplerOptions sampler) {
  Options options;
  sampler.describe(options);
  std::vector<std::pair<std::string, std::string>> settings;
  for (const Option& option : options.all()) {
    settings.emplace_back(option.name(), option.value_text());
  }
  return settings;
}

ModelRecipe::ModelRecipe(const Generator& model) : class_names_(model.class_names()) {
  model_ = {{"Software", fmt::format("addp {}", version())},
            {"addp:model", model.source()},
            {"addp:model-sha256", sha256_hex(MappedFile(model.source()).bytes())},
            {"addp:device", compute_device().str()}};
  if (!model.tokenizer_source().empty()) {
    model_["addp:tokenizer"] = model.tokenizer_source();
    model_["addp:tokenizer-sha256"] = sha256_hex(MappedFile(model.tokenizer_source()).bytes());
  }
}

std::map<std::string, std::string> ModelRecipe::of(const GenerationPlan& plan,
                                                   std::int64_t number) const {
  std::map<std::string, std::string> text = model_;
  text["addp:seed"] = fmt::format("{}", plan.seed);
  text["addp:number"] = fmt::format("{}", number);
  text["addp:precision"] = plan.bf16 ? "bf16" : "fp32";
  for (const auto& [name, value] : sampler_settings(plan.sampler)) text["addp:" + name] = value;
  if (plan.label >= 0) {
    text["addp:class"] = class_names_[static_cast<std::size_t>(plan.label)];
    text["addp:guidance"] = fmt::format("{}", plan.sampler.guidance);
  }
  return text;
}

}  // namespace addp
