#include "server/http/http_error.h"

#include "base/error.h"
#include "base/log.h"

namespace addp {
namespace {

constexpr int kBadRequest = 400, kClientGone = 499, kServerError = 500, kUnavailable = 503;

// "--steps: 0 is outside" -> "steps: 0 is outside"
std::string without_dashes(std::string text) {
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\'';
    if (begins) {
      text.erase(at, 2);
    } else {
      at += 2;
    }
  }
  return text;
}

}  // namespace

int status_of(const std::exception& error) {
  if (const auto* http = dynamic_cast<const HttpError*>(&error)) return http->status();
  if (const auto* own = dynamic_cast<const Error*>(&error)) {
    switch (own->code()) {
      case ExitCode::kUsage:
      case ExitCode::kBadData:
        return kBadRequest;
      case ExitCode::kInterrupted:
        return kClientGone;
      default:
        return kServerError;
    }
  }
  return kServerError;
}

std::string message_of(const std::exception& error) {
  if (status_of(error) != kServerError) return without_dashes(error.what());
  const std::string text = error.what();
  warn("a request failed: {}", text.substr(0, text.find('\n')));
  return "the server could not compute this; its log says why";
}

nlohmann::json error_json(int status, const std::string& message) {
  return {{"error",
           {{"message", message},
            {"type", status < kServerError ? "invalid_request_error" : "server_error"},
            {"param", nullptr},
            {"code", status}}}};
}

std::string to_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void answer_json(httplib::Response& response, const nlohmann::json& json, int status) {
  response.status = status;
  response.set_content(to_text(json), "application/json");
}

void answer_error(httplib::Response& response, const std::exception& error) {
  const int status = status_of(error);
  if (status == kUnavailable) response.set_header("Retry-After", "1");
  answer_json(response, error_json(status, message_of(error)), status);
}

}  // namespace addp
