// What a request that cannot be served is answered, in OpenAI's form:
// {"error": {"message", "type", "param", "code"}}.
#pragma once

#include <fmt/format.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace addp {

class HttpError : public std::runtime_error {
 public:
  template <class... Args>
  explicit HttpError(int status, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

// The status that an exception of the program means: 400 for what the request asks or brings, 499
// for a client that went, 500 for the rest.
int status_of(const std::exception& error);
// The text for the client. Flags are shown without their dashes; of errors of the machine, the
// details stay in the log.
std::string message_of(const std::exception& error);
nlohmann::json error_json(int status, const std::string& message);

void answer_json(httplib::Response& response, const nlohmann::json& json, int status = 200);
void answer_error(httplib::Response& response, const std::exception& error);
// JSON text even where names are no valid UTF-8: what is wrong in them is replaced.
std::string to_text(const nlohmann::json& json);

}  // namespace addp
