// How pictures are sampled, as people set it. Free of libtorch.
#pragma once

#include <cstdint>

#include "base/option/options.h"
#include "diffusion/options.h"

namespace addp {

enum class MaskCurve { kCosine, kLinear };            // how the share of masked tokens falls
enum class TemperatureCurve { kFalling, kConstant };  // tau * (1 - (s + 1)/S), or tau throughout

struct SamplerOptions {
  std::int64_t steps = 20;
  MaskCurve curve = MaskCurve::kCosine;
  double temperature = 6;  // of the Gumbel noise on the confidences, tau
  TemperatureCurve temperature_curve = TemperatureCurve::kFalling;
  double top_p = 1;  // candidates are drawn from the smallest set with this probability
  Mapping mapping = Mapping::kWeightedSum;
  // The released program never lets the number of masked tokens fall below 1, so that one token of
  // the final picture is still unreliable.
  bool keep_last_unreliable = false;
  // x_t is decoded in the last step alone: in the others the model's bypass (diffusion/bypass.h)
  // gives what the encoder needs of it.
  bool fast = false;
  // Classifier-free guidance: logits move this many times as far from those without a class.
  double guidance = 1;

  void describe(Options& o) {
    o.group("Sampling");
    o.add("steps", steps, "denoising steps").range(1, 4096);
    o.add("fast", fast,
          "only the last step decodes a picture, 2.5 times as fast at the published size; "
          "for models that 'addp distil' has prepared");
    o.add_enum<MaskCurve>("schedule", curve,
                          {{"cosine", MaskCurve::kCosine}, {"linear", MaskCurve::kLinear}},
                          "how the share of unreliable tokens falls");
    o.add("temperature", temperature, "of the noise on confidences; more gives more variety")
        .range(0, 1e6);
    o.add_enum<TemperatureCurve>(
         "temperature-curve", temperature_curve,
         {{"falling", TemperatureCurve::kFalling}, {"constant", TemperatureCurve::kConstant}},
         "falling: tau * t/T")
        .advanced();
    o.add("top-p", top_p, "tokens are drawn from the likeliest that make up this probability")
        .range(1e-6, 1)
        .advanced();
    o.add_enum<Mapping>("mapping", mapping, mapping_names(),
                        "how the distribution of unreliable tokens becomes pixels")
        .advanced();
    o.add("keep-last-unreliable", keep_last_unreliable,
          "one token stays unreliable to the end, as in the released program")
        .advanced();
  }
};

// How a hidden part of a picture is filled in (generate/edit.h).
struct FillOptions {
  std::int64_t passes = 2;
  bool match = true;
  std::int64_t feather = 0;

  void describe(Options& o) {
    o.add("passes", passes,
          "the second pass sees the first result where the first saw a mean colour, so that it "
          "understands better what is visible next to it; 1: as in the paper, in half the time")
        .range(1, 8);
    o.add("match", match,
          "shift colours of the filled part near its edge so that they meet those around it");
    o.add("feather", feather,
          "pixels inside the filled part over which it fades in; 0: a hard edge")
        .range(0, 4096);
  }
};

// A UsageError names the option that makes no sense.
void check(const SamplerOptions& options);

}  // namespace addp
