// httplib's server with limits: its own connections (connection.h), a bound on how many are open,
// and one thread for each of them.
#pragma once

#include <httplib.h>

#include <atomic>

#include "server/http/limits.h"

namespace addp {

class HttpServer : public httplib::Server {
 public:
  explicit HttpServer(const HttpLimits& limits);

  // Serves the requests of one connection, which stays open; for the listener and for tests.
  void serve(int socket);
  // No further requests on connections that are open; to be called before stop().
  void drain() { draining_ = true; }
  std::int64_t connections() const { return connections_; }
  const HttpLimits& limits() const { return limits_; }

 private:
  bool process_and_close_socket(socket_t socket) override;

  HttpLimits limits_;
  std::atomic<std::int64_t> connections_{0};
  std::atomic<bool> draining_{false};
};

}  // namespace addp
