#include "commands/make/sampling.h"

#include "base/interrupt.h"
#include "generate/recipe.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/torch.h"

namespace addp {

Generator open_generator(const SamplingModelOptions& options) {
  use_machine(options.compute);
  return Generator::open_for(bf16_here(options.precision), options.model, options.tokenizer);
}

SamplingProgress::SamplingProgress(const std::string& label, std::int64_t steps)
    : progress_(label, steps, "steps") {}

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
  TextMetadata text = picture_recipe(model, plan, number);
  text["addp:command"] = context.command_line;
  return text;
}

}  // namespace addp
