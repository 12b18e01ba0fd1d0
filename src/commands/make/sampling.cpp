#include "commands/make/sampling.h"

#include "base/interrupt.h"
#include "base/version.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

Generator open_generator(const SamplingModelOptions& options) {
  use_machine(options.compute);
  return Generator::open(options.model, options.tokenizer);
}

SamplingProgress::SamplingProgress(const std::string& label, std::int64_t batches,
                                   const SamplerOptions& options)
    : progress_(label, batches * options.steps, "steps") {}

SamplerHooks SamplingProgress::hooks(std::function<void(const SamplerStep&)> also) {
  SamplerHooks hooks;
  hooks.cancelled = interrupt_requested;
  hooks.on_step = [this, also = std::move(also)](const SamplerStep& step) {
    progress_.advance();
    if (also) also(step);
  };
  return hooks;
}

std::vector<std::pair<std::string, std::string>> sampler_settings(SamplerOptions sampler) {
  Options options;
  sampler.describe(options);
  std::vector<std::pair<std::string, std::string>> settings;
  for (const Option& option : options.all()) {
    settings.emplace_back(option.name(), option.value_text());
  }
  return settings;
}

TextMetadata picture_metadata(const Generator& model, const GenerationPlan& plan,
                              std::int64_t number, const RunContext& context) {
  TextMetadata text = {
      {"Software", fmt::format("addp {}", version())},
      {"addp:command", context.command_line},
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
  if (plan.label >= 0) {
    text["addp:class"] = model.class_names()[static_cast<std::size_t>(plan.label)];
    text["addp:guidance"] = fmt::format("{}", plan.sampler.guidance);
  }
  return text;
}

}  // namespace addp
