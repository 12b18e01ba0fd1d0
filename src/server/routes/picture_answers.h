// Pictures on their way to the client.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "generate/generator.h"
#include "image/image.h"
#include "server/jobs/job.h"
#include "server/jobs/shelf.h"

namespace addp {

// A PNG file with its recipe inside, in base64. `command` is `generate` or `inpaint`.
std::string picture_png(const HostedModel& model, const GenerationPlan& plan, std::int64_t number,
                        const Image& image, const char* command);
// {picture, png, seed, number, class}
nlohmann::json picture_json(const HostedModel& model, const GenerationPlan& plan,
                            const MadePicture& made, const char* command);
// {picture, step, steps, tokens, reliable, image}: the last as a data: address.
nlohmann::json step_json(const StepView& step);
std::string jpeg_address(const Image& image);

}  // namespace addp
