// What the commands that sample have in common.
#pragma once

#include "base/run/progress.h"
#include "commands/make/generate.h"
#include "generate/generator.h"
#include "image/codec/codec.h"

namespace addp {

// Threads are set and the model is read.
Generator open_generator(const SamplingModelOptions& options);

// Sampling of `batches` batches with a progress bar over all of their steps, cancelled
// by an interrupt.
class SamplingProgress {
 public:
  SamplingProgress(const std::string& label, std::int64_t steps);
  SamplerHooks hooks(std::function<void(const SamplerStep&)> also = {});

 private:
  Progress progress_;
};

// Everything needed to make a picture again, for its PNG file.
TextMetadata picture_metadata(const Generator& model, const GenerationPlan& plan,
                              std::int64_t number, const RunContext& context);

}  // namespace addp
