// Pictures on their way to the client.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "generate/generator.h"
#include "generate/recipe.h"
#include "image/image.h"
#include "server/jobs/job.h"
#include "server/jobs/shelf.h"

namespace addp {

// The command that makes such pictures, and what it is told beside the sampler's settings.
struct MadeBy {
  const char* command;
  Settings settings{};
};

// A PNG file with its recipe inside, in base64.
std::string picture_png(const HostedModel& model, const GenerationPlan& plan, std::int64_t number,
                        const Image& image, const MadeBy& by);
// {picture, seed, number, class, width, height, png}
nlohmann::json picture_json(const HostedModel& model, const GenerationPlan& plan,
                            const MadePicture& made, const MadeBy& by);
// {picture, step, steps, tokens, reliable, image}: the last as a data: address.
nlohmann::json step_json(const StepView& step);
std::string jpeg_address(const Image& image);

}  // namespace addp
