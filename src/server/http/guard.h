// Who may ask: the checks before any route, on headers alone.
#pragma once

#include <httplib.h>

#include <optional>
#include <string>
#include <vector>

#include "server/http/limits.h"

namespace addp {

struct GuardOptions {
  std::string host = "127.0.0.1";  // that the server listens on
  int port = 0;
  std::string token;  // empty: none is needed
};

bool is_loopback(const std::string& host);
// Takes as long for every text of a length.
bool equal_in_constant_time(std::string_view given, std::string_view wanted);

class Guard {
 public:
  Guard(GuardOptions options, HttpLimits limits);

  // Throws an HttpError that says why a request is refused:
  //   Host    must be this server's, so that a name of somebody else's that resolves to this
  //           machine (DNS rebinding) gets nowhere
  //   Origin  and Sec-Fetch-Site: no requests from other sites' pages
  //   token   for everything but the page itself and /healthz
  //   sizes   target, declared body; one meaning for the body's length
  void check(const httplib::Request& request) const;

 private:
  void check_host(const std::string& host) const;
  void check_origin(const httplib::Request& request) const;
  void check_token(const httplib::Request& request) const;
  void check_body(const httplib::Request& request) const;

  GuardOptions options_;
  HttpLimits limits_;
  std::vector<std::string> names_;  // of this machine, without port
};

}  // namespace addp
