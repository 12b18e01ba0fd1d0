// The page itself, what it asks first, and what supervisors ask.
#include "base/version.h"
#include "nn/torch.h"
#include "server/page/assets.h"
#include "server/requests/describe.h"
#include "server/requests/openapi.h"
#include "server/requests/requests.h"
#include "server/routes/route.h"

namespace addp {
namespace {

using nlohmann::json;

json model_json(const HostedModel& model) {
  json out = {{"name", model.name},
              {"kind", model.kind},
              {"makes", model.makes()},
              {"edits", model.edits()},
              {"classes", model.class_names()}};
  if (model.makes()) {
    out["fast"] = model.generator->can_be_fast();
    out["sha256"] = model.generator->source_digest();  // as in the recipe of its pictures
    out["width"] = model.generator->width();
    out["height"] = model.generator->height();
    out["grid"] = {{"width", model.generator->grid().width},
                   {"height", model.generator->grid().height}};
  }
  return out;
}

template <class Request>
json settings_of() {
  Request request;
  Options options;
  request.describe(options);
  return settings_json(options);
}

json models_json(const ServiceContext& context) {
  json models = json::array();
  for (const auto& model : context.shelf.models()) models.push_back(model_json(*model));
  return {{"version", version()},
          {"models", models},
          {"make", settings_of<MakeRequest>()},
          {"edit", settings_of<EditRequest>()},
          {"limits",
           {{"body_bytes", context.limits.body_bytes},
            {"megapixels", RequestLimits::kMegapixels},
            {"canvas_pixels", RequestLimits::kCanvasPixels}}},
          {"watching", context.runs.exists()},
          {"neighbours", context.neighbours != nullptr}};
}

json palette_json(const HostedModel& model) {
  std::string colors;
  for (const std::uint8_t value : model.palette) colors += fmt::format("{:02x}", value);
  return {{"model", model.name}, {"codes", model.palette.size() / 3}, {"colors", colors}};
}

void add_asset(HttpServer& server, ServiceContext& context, const std::string& path,
               const Asset& asset) {
  server.Get(
      path, [&context, &asset, path](const httplib::Request& request, httplib::Response& response) {
        const std::string tag = "\"" + std::string(asset.hash) + "\"";
        response.set_header("ETag", tag);
        response.set_header("Cache-Control", "no-cache");
        if (request.get_header_value("If-None-Match") == tag) {
          response.status = 304;
        } else {
          response.status = 200;
          response.set_content(std::string(asset.text()), std::string(content_type(asset.name)));
        }
        context.metrics.count_request("page", response.status, 0);
      });
}

}  // namespace

void add_page_routes(HttpServer& server, ServiceContext& context) {
  for (const Asset& asset : assets()) {
    add_asset(server, context, asset.name == "index.html" ? "/" : "/" + std::string(asset.name),
              asset);
  }
  add_get(server, context, "/api/models", [&context](Fields&, httplib::Response& response) {
    answer_json(response, models_json(context));
  });
  add_get(server, context, "/api/palette", [&context](Fields& fields, httplib::Response& response) {
    const auto request = parse_request<SegmentRequest>(fields);
    answer_json(response, palette_json(context.shelf.find(
                              request.model, [](const HostedModel& m) { return m.makes(); },
                              "make pictures")));
  });
  add_get(server, context, "/api/openapi.json",
          [](Fields&, httplib::Response& response) { answer_json(response, openapi_json()); });
  add_get(server, context, "/healthz", [&context](Fields&, httplib::Response& response) {
    answer_json(response, {{"status", "ok"},
                           {"models", context.shelf.models().size()},
                           {"waiting", context.queue.state().pictures}});
  });
  add_get(server, context, "/metrics", [&context, &server](Fields&, httplib::Response& response) {
    response.status = 200;
    response.set_content(context.metrics.text(context.queue.state(), server.connections()),
                         "text/plain; version=0.0.4");
  });
}

}  // namespace addp
