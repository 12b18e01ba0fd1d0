#include "generate/recipe.h"

#include <fmt/format.h>

#include "base/version.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

namespace {

template <class Described>
Settings settings_of(Described& described) {
  Options options;
  described.describe(options);
  Settings settings;
  for (const Option& option : options.all()) {
    settings.emplace_back(option.name(), option.value_text());
  }
  return settings;
}

}  // namespace

Settings sampler_settings(SamplerOptions sampler) { return settings_of(sampler); }
Settings fill_settings(FillOptions fill) { return settings_of(fill); }

std::map<std::string, std::string> picture_recipe(const Generator& model,
                                                  const GenerationPlan& plan, std::int64_t number) {
  std::map<std::string, std::string> text = {
      {"Software", fmt::format("addp {}", version())},
      {"addp:model", model.source()},
      {"addp:model-sha256", model.source_digest()},
      {"addp:seed", fmt::format("{}", plan.seed)},
      {"addp:number", fmt::format("{}", number)},
      {"addp:precision", plan.bf16 ? "bf16" : "fp32"},
      {"addp:device", compute_device().str()},
  };
  if (!model.tokenizer_source().empty()) {
    text["addp:tokenizer"] = model.tokenizer_source();
    text["addp:tokenizer-sha256"] = model.tokenizer_digest();
  }
  for (const auto& [name, value] : sampler_settings(plan.sampler)) text["addp:" + name] = value;
  if (plan.grid && !(*plan.grid == model.grid())) {
    const std::int64_t pixels = model.tokenizer().factor();
    text["addp:size"] = fmt::format("{}x{}", plan.grid->width * pixels, plan.grid->height * pixels);
  }
  if (plan.label >= 0) {
    text["addp:class"] = model.class_names()[static_cast<std::size_t>(plan.label)];
    text["addp:guidance"] = fmt::format("{}", plan.sampler.guidance);
  }
  return text;
}

}  // namespace addp
