#include "server/routes/route.h"

#include <algorithm>
#include <chrono>

#include "server/http/connection.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kSilence = 5s;  // of a stream, at most

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How long to wait for an event before looking whether the client is still there. The more there
// are, the less often each is looked after, so that their threads take nothing from the computing
// one.
std::chrono::milliseconds patience(const ServiceContext& context) {
  return std::clamp(4ms * context.server.connections(), 50ms, 500ms);
}

bool client_gone() {
  const Connection* connection = Connection::current();
  return connection != nullptr && connection->peer_gone();
}

// Runs a handler; whatever it throws becomes the answer. Streams are counted at their end.
void guarded(ServiceContext& context, const std::string& path, httplib::Response& response,
             const std::function<void()>& handler) {
  const auto start = Clock::now();
  try {
    handler();
  } catch (const std::exception& error) {
    response.content_provider_ = nullptr;
    answer_error(response, error);
  }
  if (response.content_provider_) return;
  context.metrics.count_request(path, response.status < 0 ? 200 : response.status,
                                seconds_since(start));
}

std::string event_text(const ServerEvent& event) {
  return "event: " + event.name + "\ndata: " + to_text(event.data) + "\n\n";
}

// The state of one stream between calls of httplib.
struct StreamState {
  std::shared_ptr<Job> job;
  ServerEvent first;
  bool started = false, ended = false, failed = false;
  Clock::time_point start = Clock::now(), last = start;  // of the stream, and of what was sent last
};

ServerEvent last_event(const StreamState& state, bool& failed) {
  try {
    state.job->rethrow();
    return {"done", {{"seconds", seconds_since(state.start)}}};
  } catch (const std::exception& error) {
    failed = true;
    return {"error", error_json(status_of(error), message_of(error))["error"]};
  }
}

}  // namespace

void add_get(HttpServer& server, ServiceContext& context, const std::string& path,
             GetHandler handler) {
  server.Get(path, [&context, path, handler](const httplib::Request& request,
                                             httplib::Response& response) {
    guarded(context, path, response, [&] {
      Fields fields;
      add_query(fields, request);
      handler(fields, response);
    });
  });
}

void add_post(HttpServer& server, ServiceContext& context, const std::string& path,
              PostHandler handler) {
  server.Post(
      path, [&context, path, handler](const httplib::Request& request, httplib::Response& response,
                                      const httplib::ContentReader& reader) {
        guarded(context, path, response, [&] {
          Fields fields = read_fields(request, reader, context.limits);
          handler(fields, response);
        });
      });
}

void wait_for(ServiceContext& context, const std::shared_ptr<Job>& job,
              const std::function<void(const JobEvent&)>& on_event) {
  context.queue.submit(job);
  while (!job->over()) {
    if (const auto event = job->next(patience(context))) {
      if (on_event) on_event(*event);
    } else if (client_gone()) {
      context.queue.cancel(job);
      throw HttpError(499, "the client went away");
    }
  }
  job->rethrow();
}

void stream(ServiceContext& context, httplib::Response& response, const std::string& route,
            const std::shared_ptr<Job>& job, ServerEvent first,
            std::function<ServerEvent(const JobEvent&)> to_event,
            std::function<void()> on_success) {
  context.queue.submit(job);
  auto state = std::make_shared<StreamState>();
  state->job = job;
  state->first = std::move(first);
  const auto provide = [&context, state, to_event](std::size_t, httplib::DataSink& sink) {
    const auto send = [&](const std::string& text) { return sink.write(text.data(), text.size()); };
    if (!state->started) {
      state->started = true;
      return send(event_text(state->first));
    }
    if (const auto event = state->job->next(patience(context))) {
      state->last = Clock::now();
      return send(event_text(to_event(*event)));
    }
    if (state->job->over()) {
      state->ended = true;
      const bool sent = send(event_text(last_event(*state, state->failed)));
      sink.done();
      return sent;
    }
    if (client_gone()) return false;
    // A comment now and then, so that nobody in between takes the silence for the end.
    if (Clock::now() - state->last < kSilence) return true;
    state->last = Clock::now();
    return send(": waiting\n\n");
  };
  const auto release = [&context, state, route, on_success](bool) {
    if (!state->ended) context.queue.cancel(state->job);
    if (state->ended && !state->failed && on_success) on_success();
    context.metrics.count_request(route, state->ended ? (state->failed ? 500 : 200) : 499,
                                  seconds_since(state->start));
  };
  response.status = 200;
  response.set_header("Cache-Control", "no-store");
  response.set_chunked_content_provider("text/event-stream", provide, release);
}

}  // namespace addp
