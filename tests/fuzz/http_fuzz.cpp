// Requests are foreign bytes. The first byte chooses: a whole connection through the HTTP layer
// (its limits, guard and body readers), a body by itself, or a picture that a client sends. Each
// input ends in an answer or in an Error.
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "server/http/connection.h"
#include "server/http/fields.h"
#include "server/http/guard.h"
#include "server/http/http_error.h"
#include "server/http/http_server.h"
#include "server/requests/describe.h"
#include "server/requests/openai.h"
#include "server/requests/pictures.h"
#include "server/requests/requests.h"

namespace {

using namespace addp;

HttpLimits small_limits() {
  HttpLimits limits;
  limits.header_bytes = 4096;
  limits.body_bytes = 65536;
  limits.header_seconds = limits.body_start_seconds = 1;
  limits.idle_seconds = 0.2;
  return limits;
}

void parse_all(Fields fields) {
  const auto attempt = [](auto&& call) {
    try {
      call();
    } catch (const HttpError& error) {
      to_text(error_json(error.status(), message_of(error)));
    } catch (const Error& error) {
      to_text(error_json(status_of(error), message_of(error)));
    }
  };
  Fields openai = fields;
  attempt([&] { take_openai_fields(openai), parse_request<MakeRequest>(openai); });
  attempt([&] { fields.find_file("image"); });
  attempt([&] { fields.find_file("mask"); });
  attempt([&] { parse_request<MakeRequest>(fields); });
  attempt([&] { parse_request<EditRequest>(fields); });
  attempt([&] { parse_request<DetectRequest>(fields); });
}

// A server whose one route reads what comes.
class FuzzServer : public HttpServer {
 public:
  FuzzServer() : HttpServer(small_limits()), guard_({.host = "127.0.0.1", .port = 80}, limits()) {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      try {
        guard_.check(request);
        return HandlerResponse::Unhandled;
      } catch (const HttpError& error) {
        answer_error(response, error);
        return HandlerResponse::Handled;
      }
    });
    Get("/", [](const httplib::Request& request, httplib::Response& response) {
      Fields fields;
      add_query(fields, request);
      parse_all(fields);
      response.set_content("page", "text/plain");
    });
    Post("/", [this](const httplib::Request& request, httplib::Response& response,
                     const httplib::ContentReader& reader) {
      try {
        parse_all(read_fields(request, reader, limits()));
        answer_json(response, {{"done", true}});
      } catch (const std::exception& error) {
        answer_error(response, error);
      }
    });
  }

 private:
  Guard guard_;
};

void walk_connection(const std::uint8_t* data, std::size_t size) {
  static FuzzServer server;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  const int room = 1 << 20;  // so that neither side waits for the other
  for (const int end : ends) ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  if (::send(ends[0], data, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
    ::shutdown(ends[0], SHUT_WR);
    server.serve(ends[1]);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

void walk_body(std::string body) {
  Fields fields;
  add_body(fields, "application/json", std::move(body), small_limits());
  parse_all(std::move(fields));
}

void walk_picture(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, data + size);
  // What claims to be large is only looked at: decoding it is another target's work.
  const ImageInfo info = read_image_info(bytes, "fuzz");
  if (std::int64_t{info.width} * info.height > 1 << 16) return;
  decode_upload(bytes, "fuzz");
  decode_mask(bytes, "fuzz");
  decode_openai_mask(bytes, "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  try {
    switch (data[0] % 3) {
      case 0:
        walk_connection(data + 1, size - 1);
        break;
      case 1:
        walk_body({data + 1, data + size});
        break;
      default:
        walk_picture(data + 1, size - 1);
    }
  } catch (const HttpError&) {
  } catch (const Error&) {
  }
  return 0;
}
