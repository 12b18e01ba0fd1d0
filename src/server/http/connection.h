// One connection of a client, as the HTTP parser reads it: buffered, with the limits on headers,
// bodies and time enforced below the parser, which has none of its own for slow or endless input.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "server/http/limits.h"

namespace addp {

class Connection : public httplib::Stream {
 public:
  Connection(int socket, const HttpLimits& limits);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for the first byte of another request; false when none comes in time or the client went.
  // `stop` is asked now and then.
  bool await_request(const std::function<bool()>& stop);
  // Between requests: counts and clocks begin anew.
  void begin_request();
  // The headers are read; what follows is the body.
  void begin_body(const httplib::Request& request);
  // The parser left a part of the body unread (or it cannot be known): nothing may follow.
  bool body_left() const;
  // A limit was exceeded, and the answer that says so was already given.
  bool failed() const { return failed_; }
  // The client closed the connection or reset it.
  bool peer_gone() const;
  // Ends our side and reads on for a moment, so that the client gets the answer before the reset
  // that unread bytes would cause.
  void finish();

  // The connection that this thread serves; null outside of requests.
  static Connection* current();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* ptr, size_t size) override;
  ssize_t write(const char* ptr, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { kHeaders, kBody };

  bool wait(short events, double seconds) const;
  double seconds_left() const;  // until the present phase must be over
  ssize_t fill();               // the buffer; 0 at the end, -1 after an error
  bool send_all(const char* data, std::size_t size);
  // Answers in place of the parser, which sees the end of the connection.
  ssize_t fail(int status, std::string_view reason, std::string_view message);

  int socket_;
  const HttpLimits& limits_;
  std::array<char, 8192> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Phase phase_ = Phase::kHeaders;
  std::size_t received_ = 0;  // in this phase
  std::size_t body_length_ = 0;
  bool chunked_ = false, failed_ = false;
  Clock::time_point phase_start_;
};

// A whole answer with an error in it that closes the connection, for where no parser makes one.
std::string closing_answer(int status, std::string_view reason, std::string_view message);

// Makes a connection the thread's current one for a scope.
class CurrentConnection {
 public:
  explicit CurrentConnection(Connection& connection);
  ~CurrentConnection();
  CurrentConnection(const CurrentConnection&) = delete;
  CurrentConnection& operator=(const CurrentConnection&) = delete;
};

}  // namespace addp
