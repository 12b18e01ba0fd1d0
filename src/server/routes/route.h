// How routes are made: fields in, JSON out, errors and counts in one place.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/http/fields.h"
#include "server/http/http_error.h"
#include "server/http/http_server.h"
#include "server/routes/service.h"

namespace addp {

using GetHandler = std::function<void(Fields& fields, httplib::Response& response)>;
using PostHandler = std::function<void(Fields& fields, httplib::Response& response)>;

void add_get(HttpServer& server, ServiceContext& context, const std::string& path,
             GetHandler handler);
void add_post(HttpServer& server, ServiceContext& context, const std::string& path,
              PostHandler handler);

// Puts a job into the queue and waits for its end; `on_event` sees what it posts. Cancels it when
// the client goes. Throws what the computation threw.
void wait_for(ServiceContext& context, const std::shared_ptr<Job>& job,
              const std::function<void(const JobEvent&)>& on_event = {});

// The same as server-sent events: `to_event` gives the name and data of what is posted.
struct ServerEvent {
  std::string name;
  nlohmann::json data;
};
void stream(ServiceContext& context, httplib::Response& response, const std::string& route,
            const std::shared_ptr<Job>& job, ServerEvent first,
            std::function<ServerEvent(const JobEvent&)> to_event, std::function<void()> on_success);

// --- the families of routes
void add_page_routes(HttpServer& server, ServiceContext& context);
void add_sampling_routes(HttpServer& server, ServiceContext& context);
void add_recognition_routes(HttpServer& server, ServiceContext& context);
void add_openai_routes(HttpServer& server, ServiceContext& context);
void add_run_routes(HttpServer& server, ServiceContext& context);

}  // namespace addp
