#include "commands/sampling.h"

#include "base/file_io.h"
#include "base/interrupt.h"
#include "base/sha256.h"
#include "base/version.h"
#include "nn/machine.h"
#include "nn/torch.h"

namespace addp {
namespace {

const char* curve_name(MaskCurve curve) {
  return curve == MaskCurve::kCosine ? "cosine" : "linear";
}

const char* mapping_name(Mapping mapping) {
  switch (mapping) {
    case Mapping::kArgMax:
      return "argmax";
    case Mapping::kSampling:
      return "sampling";
    default:
      return "weighted-sum";
  }
}

}  // namespace

Generator open_generator(const SamplingModelOptions& options) {
  use_machine(options.threads);
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

TextMetadata picture_metadata(const Generator& model, const GenerationPlan& plan,
                              std::int64_t number, const RunContext& context) {
  const SamplerOptions& s = plan.sampler;
  TextMetadata text = {
      {"Software", fmt::format("addp {}", version())},
      {"addp:command", context.command_line},
      {"addp:model", model.source()},
      {"addp:model-sha256", sha256_hex(MappedFile(model.source()).bytes())},
      {"addp:seed", fmt::format("{}", plan.seed)},
      {"addp:number", fmt::format("{}", number)},
      {"addp:steps", fmt::format("{}", s.steps)},
      {"addp:schedule", curve_name(s.curve)},
      {"addp:temperature", fmt::format("{}", s.temperature)},
      {"addp:temperature-curve",
       s.temperature_curve == TemperatureCurve::kFalling ? "falling" : "constant"},
      {"addp:top-p", fmt::format("{}", s.top_p)},
      {"addp:mapping", mapping_name(s.mapping)},
  };
  if (plan.label >= 0) {
    text["addp:class"] = model.class_names()[static_cast<std::size_t>(plan.label)];
    text["addp:guidance"] = fmt::format("{}", s.guidance);
  }
  return text;
}

}  // namespace addp
