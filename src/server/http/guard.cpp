#include "server/http/guard.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "server/http/http_error.h"

namespace addp {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return text;
}

// "name:port" or "[::1]:port" -> name without brackets; the port is appended to `port`.
std::string split_host(const std::string& host, std::string& port) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string::npos) return "";
    const std::string rest = host.substr(end + 1);
    if (!rest.empty() && rest[0] != ':') return "";
    port = rest.empty() ? "" : rest.substr(1);
    return host.substr(1, end - 1);
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string::npos) port = host.substr(colon + 1);
  return host.substr(0, colon);
}

bool is_address(const std::string& name) {
  in_addr v4{};
  in6_addr v6{};
  return ::inet_pton(AF_INET, name.c_str(), &v4) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &v6) == 1;
}

// What the page is made of and what a supervisor asks holds nothing to protect.
bool is_open(const httplib::Request& request) {
  return request.method == "GET" && !request.path.starts_with("/api/") &&
         !request.path.starts_with("/v1/") && request.path != "/metrics";
}

}  // namespace

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool equal_in_constant_time(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    difference |= static_cast<unsigned char>(given[i] ^ other);
  }
  return difference == 0;
}

Guard::Guard(GuardOptions options, HttpLimits limits)
    : options_(std::move(options)), limits_(limits) {
  names_ = {"localhost", lower(options_.host)};
  if (is_loopback(options_.host)) {
    names_.insert(names_.end(), {"127.0.0.1", "::1"});
  } else {
    char name[256] = "";
    if (::gethostname(name, sizeof name - 1) == 0) names_.push_back(lower(name));
  }
}

void Guard::check_host(const std::string& host) const {
  std::string port;
  const std::string name = lower(split_host(host, port));
  const bool known = std::find(names_.begin(), names_.end(), name) != names_.end() ||
                     (!is_loopback(options_.host) && is_address(name));
  const bool right_port =
      port.empty() ? options_.port == 80 : port == std::to_string(options_.port);
  if (!known || !right_port) {
    throw HttpError(421, "this server does not go by that name; use the address it printed");
  }
}

void Guard::check_origin(const httplib::Request& request) const {
  const std::string origin = request.get_header_value("Origin");
  const bool own =
      origin.empty() || lower(origin) == "http://" + lower(request.get_header_value("Host"));
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  const bool elsewhere = site == "cross-site" || site == "same-site";
  const bool visit = request.method == "GET" &&
                     request.get_header_value("Sec-Fetch-Mode") == "navigate" && is_open(request);
  if (!own || (elsewhere && !visit)) {
    throw HttpError(403, "requests from the pages of other sites are refused");
  }
}

void Guard::check_token(const httplib::Request& request) const {
  if (options_.token.empty() || is_open(request)) return;
  constexpr std::string_view kScheme = "bearer ";
  const std::string given = request.get_header_value("Authorization");
  const bool bearer = lower(given.substr(0, kScheme.size())) == kScheme;
  const std::string_view token =
      bearer ? std::string_view(given).substr(kScheme.size()) : std::string_view();
  if (!equal_in_constant_time(token, options_.token)) {
    throw HttpError(401, "this server needs its token: send it as 'Authorization: Bearer TOKEN'");
  }
}

void Guard::check_body(const httplib::Request& request) const {
  const std::size_t lengths = request.get_header_value_count("Content-Length");
  const bool chunked = request.has_header("Transfer-Encoding");
  if (lengths + (chunked ? 1 : 0) > 1) {
    throw HttpError(400, "the length of the body is given twice; send one Content-Length");
  }
  if (chunked && lower(request.get_header_value("Transfer-Encoding")) != "chunked") {
    throw HttpError(501, "of transfer encodings, only 'chunked' is understood");
  }
  if (request.has_header("Content-Encoding") &&
      lower(request.get_header_value("Content-Encoding")) != "identity") {
    throw HttpError(415, "compressed bodies are not taken; send it as it is");
  }
  if (lengths == 0) return;
  const std::string text = request.get_header_value("Content-Length");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    throw HttpError(400, "Content-Length is not a number");
  }
  if (error != std::errc() || length > limits_.body_bytes) {
    throw HttpError(413, "the body is larger than {} MiB; send less at a time",
                    limits_.body_bytes >> 20);
  }
}

void Guard::check(const httplib::Request& request) const {
  if (request.target.size() > limits_.target_bytes) {
    throw HttpError(414, "the address is longer than {} bytes", limits_.target_bytes);
  }
  if (request.get_header_value_count("Host") != 1) {
    throw HttpError(400, "give one Host header");
  }
  check_host(request.get_header_value("Host"));
  check_origin(request);
  check_token(request);
  check_body(request);
}

}  // namespace addp
