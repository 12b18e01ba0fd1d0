// /v1/...: OpenAI's shape, so that its clients work.
#include "nn/torch.h"
#include "server/jobs/sampling_jobs.h"
#include "server/requests/describe.h"
#include "server/requests/openai.h"
#include "server/requests/pictures.h"
#include "server/routes/picture_answers.h"
#include "server/routes/route.h"
#include "server/routes/sampling_requests.h"

namespace addp {
namespace {

using nlohmann::json;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

json models_json(const Shelf& shelf) {
  json data = json::array();
  for (const auto& model : shelf.models()) {
    data.push_back({{"id", model->name},
                    {"object", "model"},
                    {"created", 0},
                    {"owned_by", "addp"},
                    {"kind", model->kind}});
  }
  return {{"object", "list"}, {"data", data}};
}

// Pictures in the order they were asked for.
json image_list(ServiceContext& context, const std::shared_ptr<Job>& job, const HostedModel& model,
                const GenerationPlan& plan, const OpenAiRequest& openai, const MadeBy& by) {
  json data = json::array();
  wait_for(context, job, [&](const JobEvent& event) {
    const auto* made = std::get_if<MadePicture>(&event);
    if (made == nullptr) return;
    const std::string png = picture_png(model, plan, plan.first + made->picture, made->image, by);
    data.push_back(openai.as_url() ? json{{"url", "data:image/png;base64," + png}}
                                   : json{{"b64_json", png}});
  });
  return {{"created", now()}, {"data", data}};
}

// A class by its own field, or the one that the prompt names.
template <class Request>
void choose_class(Request& request, const OpenAiRequest& openai, const HostedModel& model) {
  if (!request.class_name.empty()) return;
  if (const auto named = class_in_prompt(openai.prompt, model.class_names())) {
    request.class_name = *named;
  }
}

void generations(ServiceContext& context, Fields& fields, httplib::Response& response) {
  const OpenAiRequest openai = take_openai_fields(fields);
  auto request = parse_request<MakeRequest>(fields);
  const HostedModel& model = find_maker(context, request.model);
  request.size = openai.size == "auto" ? "" : openai.size;
  choose_class(request, openai, model);
  const GenerationPlan plan = plan_of(request, model);
  const auto job = std::make_shared<MakeJob>(model, plan, /*wants_steps=*/false);
  answer_json(response, image_list(context, job, model, plan, openai, MadeBy{"generate"}));
  context.metrics.count_pictures("made", plan.count);
}

void edits(ServiceContext& context, Fields& fields, httplib::Response& response) {
  const OpenAiRequest openai = take_openai_fields(fields);
  const Bytes& bytes = fields.file("image", "the picture to edit");
  const Image picture = decode_upload(bytes, "image");
  std::optional<GrayImage> mask;
  if (const Bytes* given = fields.find_file("mask")) {
    mask = decode_openai_mask(*given, "mask");
  } else if (const auto hole = decode_hole(bytes, "image")) {
    mask = *hole;
  }
  auto request = parse_request<EditRequest>(fields);
  const HostedModel& model = find_editor(context, request.model);
  choose_class(request, openai, model);
  EditTask task = task_of(request, picture, mask);
  check_size(openai.size, task.picture.width, task.picture.height);
  const EditOptions options = options_of(request, model);
  const auto job =
      std::make_shared<EditJob>(model, std::move(task), options, /*wants_steps=*/false);
  answer_json(response, image_list(context, job, model, options.generation, openai,
                                   MadeBy{"inpaint", fill_settings(options.fill)}));
  context.metrics.count_pictures("edited", options.generation.count);
}

}  // namespace

void add_openai_routes(HttpServer& server, ServiceContext& context) {
  add_get(server, context, "/v1/models", [&context](Fields&, httplib::Response& response) {
    answer_json(response, models_json(context.shelf));
  });
  add_post(server, context, "/v1/images/generations",
           [&context](Fields& fields, httplib::Response& response) {
             generations(context, fields, response);
           });
  add_post(server, context, "/v1/images/edits",
           [&context](Fields& fields, httplib::Response& response) {
             edits(context, fields, response);
           });
}

}  // namespace addp
