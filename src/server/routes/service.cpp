#include "server/routes/service.h"

#include "base/error.h"
#include "nn/torch.h"
#include "server/http/connection.h"
#include "server/http/http_error.h"
#include "server/routes/route.h"

namespace addp {
namespace {

httplib::Headers safe_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"}};
}

// Errors that httplib finds by itself get our form; a handler's own answer stays.
void answer_bare_error(const httplib::Request&, httplib::Response& response) {
  if (!response.body.empty()) return;
  const char* message = "this request cannot be understood";
  if (response.status == 404) message = "there is nothing under this address";
  if (response.status == 413) message = "the body is too large";
  if (response.status == 414) message = "the address is too long";
  if (response.status == 416) message = "ranges are not served";
  answer_json(response, error_json(response.status, message), response.status);
}

}  // namespace

Service::Service(const ServiceOptions& options)
    : options_(options),
      shelf_(options.models, options.bf16),
      queue_(options.queue),
      runs_(options.watch),
      server_(options.http) {
  if (!options.data.empty()) {
    const HostedModel& model = shelf_.find(
        "", [](const HostedModel& m) { return m.has_encoder(); }, "compare pictures");
    neighbours_ = std::make_unique<Neighbours>(options.data, model, queue_);
  }
  const std::string& host = options.guard.host;
  port_ = options.guard.port > 0 ? options.guard.port : server_.bind_to_any_port(host);
  const bool bound =
      options.guard.port > 0 ? server_.bind_to_port(host, options.guard.port) : port_ > 0;
  if (!bound) {
    throw RuntimeError("{}:{} cannot be listened on; is it taken? Choose another --port", host,
                       options.guard.port);
  }
  options_.guard.port = port_;
  guard_ = std::make_unique<Guard>(options_.guard, options_.http);
  context_ = std::make_unique<ServiceContext>(
      ServiceContext{shelf_, queue_, server_, metrics_, options_.http, runs_, neighbours_.get()});
  add_routes();
}

Service::~Service() { stop(); }

void Service::add_routes() {
  server_.set_default_headers(safe_headers());
  server_.set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        try {
          guard_->check(request);
          return httplib::Server::HandlerResponse::Unhandled;
        } catch (const HttpError& error) {
          answer_error(response, error);
          if (error.status() == 401) response.set_header("WWW-Authenticate", "Bearer");
          metrics_.count_request("refused", error.status(), 0);
          return httplib::Server::HandlerResponse::Handled;
        }
      });
  server_.set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
    const Connection* connection = Connection::current();
    if (connection != nullptr && connection->body_left()) {
      response.set_header("Connection", "close");
    }
  });
  server_.set_error_handler(httplib::Server::Handler(answer_bare_error));
  server_.set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, std::exception_ptr pointer) {
        try {
          std::rethrow_exception(pointer);
        } catch (const std::exception& error) {
          answer_error(response, error);
        }
      });
  add_page_routes(server_, *context_);
  add_sampling_routes(server_, *context_);
  add_recognition_routes(server_, *context_);
  add_openai_routes(server_, *context_);
  add_run_routes(server_, *context_);
}

void Service::start() {
  listener_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Service::stop() {
  if (!listener_.joinable()) return;
  server_.drain();
  queue_.stop();
  server_.stop();
  listener_.join();
}

}  // namespace addp
