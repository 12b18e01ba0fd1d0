// From requests to what the sampler takes.
#pragma once

#include <optional>

#include "generate/edit.h"
#include "server/requests/requests.h"
#include "server/routes/service.h"

namespace addp {

const HostedModel& find_maker(const ServiceContext& context, const std::string& name);
const HostedModel& find_editor(const ServiceContext& context, const std::string& name);

GenerationPlan plan_of(const MakeRequest& request, const HostedModel& model);
EditOptions options_of(const EditRequest& request, const HostedModel& model);
// One of a mask, a box and margins says what is to be filled in; a mask or a box goes with margins,
// too.
EditTask task_of(const EditRequest& request, const Image& picture,
                 const std::optional<GrayImage>& mask);

}  // namespace addp
