// /api/generate and /api/inpaint.
#include "image/draw/draw.h"
#include "nn/torch.h"
#include "server/jobs/sampling_jobs.h"
#include "server/requests/describe.h"
#include "server/requests/pictures.h"
#include "server/routes/picture_answers.h"
#include "server/routes/route.h"
#include "server/routes/sampling_requests.h"

namespace addp {
namespace {

using nlohmann::json;

json grid_json(const Grid& grid) { return {{"width", grid.width}, {"height", grid.height}}; }

// {model, seconds, pictures: [...]}, when all of them are made.
template <class SamplingJob>
json all_pictures(ServiceContext& context, const std::shared_ptr<SamplingJob>& job,
                  const GenerationPlan& plan, const MadeBy& by) {
  const auto start = std::chrono::steady_clock::now();
  json pictures = json::array();
  wait_for(context, job, [&](const JobEvent& event) {
    if (const auto* made = std::get_if<MadePicture>(&event)) {
      pictures.push_back(picture_json(job->model(), plan, *made, by));
    }
  });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {{"model", job->model().name}, {"seconds", taken.count()}, {"pictures", pictures}};
}

ServerEvent event_of(const JobEvent& event, const HostedModel& model, const GenerationPlan& plan,
                     const MadeBy& by) {
  if (const auto* step = std::get_if<StepView>(&event)) return {"step", step_json(*step)};
  if (const auto* made = std::get_if<MadePicture>(&event)) {
    return {"picture", picture_json(model, plan, *made, by)};
  }
  const auto& window = std::get<EditWindow>(event);
  return {"window",
          {{"box", {window.box.left, window.box.top, window.box.width, window.box.height}},
           {"grid", grid_json(window.grid)},
           {"steps", window.steps}}};
}

void generate_route(ServiceContext& context, Fields& fields, httplib::Response& response) {
  const auto request = parse_request<MakeRequest>(fields);
  const HostedModel& model = find_maker(context, request.model);
  const GenerationPlan plan = plan_of(request, model);
  auto job = std::make_shared<MakeJob>(model, plan, request.stream);
  if (!request.stream) {
    answer_json(response, all_pictures(context, job, plan, MadeBy{"generate"}));
    context.metrics.count_pictures("made", plan.count);
    return;
  }
  ServerEvent first{"start",
                    {{"model", model.name},
                     {"width", plan.grid->width * model.generator->tokenizer().factor()},
                     {"height", plan.grid->height * model.generator->tokenizer().factor()},
                     {"grid", grid_json(*plan.grid)},
                     {"count", plan.count},
                     {"steps", plan.sampler.steps}}};
  stream(
      context, response, "/api/generate", job, std::move(first),
      [&model, plan](const JobEvent& event) {
        return event_of(event, model, plan, MadeBy{"generate"});
      },
      [&context, plan] { context.metrics.count_pictures("made", plan.count); });
}

void inpaint_route(ServiceContext& context, Fields& fields, httplib::Response& response) {
  const Image picture =
      decode_upload(fields.file("image", "the picture, as a file of a form or in base64"), "image");
  std::optional<GrayImage> mask;
  if (const Bytes* bytes = fields.find_file("mask")) mask = decode_mask(*bytes, "mask");
  const auto request = parse_request<EditRequest>(fields);
  const HostedModel& model = find_editor(context, request.model);
  const EditOptions options = options_of(request, model);
  const GenerationPlan& plan = options.generation;
  const MadeBy by{"inpaint", fill_settings(options.fill)};
  EditTask task = task_of(request, picture, mask);
  const int width = task.picture.width, height = task.picture.height;
  auto job = std::make_shared<EditJob>(model, std::move(task), options, request.stream);
  if (!request.stream) {
    answer_json(response, all_pictures(context, job, plan, by));
    context.metrics.count_pictures("edited", plan.count);
    return;
  }
  ServerEvent first{
      "start",
      {{"model", model.name}, {"width", width}, {"height", height}, {"count", plan.count}}};
  stream(
      context, response, "/api/inpaint", job, std::move(first),
      [&model, plan, by](const JobEvent& event) { return event_of(event, model, plan, by); },
      [&context, plan] { context.metrics.count_pictures("edited", plan.count); });
}

}  // namespace

void add_sampling_routes(HttpServer& server, ServiceContext& context) {
  add_post(server, context, "/api/generate",
           [&context](Fields& fields, httplib::Response& response) {
             generate_route(context, fields, response);
           });
  add_post(server, context, "/api/inpaint",
           [&context](Fields& fields, httplib::Response& response) {
             inpaint_route(context, fields, response);
           });
}

}  // namespace addp
