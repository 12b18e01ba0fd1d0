// /api/runs, /api/runs/log and /api/runs/picture: trainings, to look at only.
#include "server/requests/describe.h"
#include "server/routes/route.h"

namespace addp {
namespace {

struct RunRequest {
  std::string run, picture;
  std::int64_t from = 0;

  void describe(Options& o) {
    o.add("run", run, "name of a run, as /api/runs lists it");
    o.add("picture", picture, "name of a picture, as /api/runs lists it");
    o.add("from", from, "where in the log to go on").range(0, 9e15);
  }
};

constexpr const char* kNoRun = "there is no such run";

}  // namespace

void add_run_routes(HttpServer& server, ServiceContext& context) {
  add_get(server, context, "/api/runs", [&context](Fields&, httplib::Response& response) {
    answer_json(response, {{"watching", context.runs.exists()}, {"runs", context.runs.list()}});
  });
  add_get(server, context, "/api/runs/log",
          [&context](Fields& fields, httplib::Response& response) {
            const auto request = parse_request<RunRequest>(fields);
            const auto log = context.runs.log(request.run, request.from);
            if (!log) throw HttpError(404, "{}", kNoRun);
            answer_json(response, *log);
          });
  add_get(server, context, "/api/runs/picture",
          [&context](Fields& fields, httplib::Response& response) {
            const auto request = parse_request<RunRequest>(fields);
            const auto bytes = context.runs.picture(request.run, request.picture);
            if (!bytes) throw HttpError(404, "{}", kNoRun);
            response.status = 200;
            response.set_content(*bytes, "image/png");
          });
}

}  // namespace addp
