#include "server/http/connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace addp {
namespace {

thread_local Connection* current_connection = nullptr;

// A wait is cut into pieces of this length, between which it can be called off.
constexpr double kPiece = 0.2;
// What a client sends after its last answer is read at most for this long.
constexpr std::chrono::seconds kLongestFinish(2);

using AddressFunction = int (*)(int, sockaddr*, socklen_t*);

void address_of(int socket, AddressFunction which, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (which(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return;
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    port = ntohs(v4->sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    port = ntohs(v6->sin6_port);
  }
  ip = text;
}

}  // namespace

Connection::Connection(int socket, const HttpLimits& limits)
    : socket_(socket), limits_(limits), phase_start_(Clock::now()) {}

Connection* Connection::current() { return current_connection; }

CurrentConnection::CurrentConnection(Connection& connection) { current_connection = &connection; }
CurrentConnection::~CurrentConnection() { current_connection = nullptr; }

bool Connection::wait(short events, double seconds) const {
  pollfd poller{socket_, events, 0};
  const int milliseconds = static_cast<int>(std::clamp(seconds, 0.0, 3600.0) * 1000) + 1;
  int ready = 0;
  do {
    ready = ::poll(&poller, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool Connection::await_request(const std::function<bool()>& stop) {
  if (begin_ < end_) return true;
  for (double waited = 0; waited < limits_.idle_seconds && !stop(); waited += kPiece) {
    if (!wait(POLLIN, kPiece)) continue;
    return fill() > 0;
  }
  return false;
}

void Connection::begin_request() {
  phase_ = Phase::kHeaders;
  received_ = body_length_ = 0;
  chunked_ = false;
  phase_start_ = Clock::now();
}

void Connection::begin_body(const httplib::Request& request) {
  phase_ = Phase::kBody;
  received_ = 0;
  phase_start_ = Clock::now();
  chunked_ = request.has_header("Transfer-Encoding");
  const std::string length = request.get_header_value("Content-Length");
  std::from_chars(length.data(), length.data() + length.size(), body_length_);
}

bool Connection::body_left() const { return failed_ || chunked_ || received_ < body_length_; }

bool Connection::peer_gone() const {
  if (failed_) return true;
  if (begin_ < end_) return false;  // it has sent more: the next request
  char byte = 0;
  const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void Connection::finish() {
  ::shutdown(socket_, SHUT_WR);
  // Many clients read no answer before they have sent all of a body, even one that is refused.
  const std::size_t most = 2 * limits_.body_bytes + (1 << 20);
  const auto start = Clock::now();
  std::size_t drained = 0;
  while (drained < most && Clock::now() - start < kLongestFinish && wait(POLLIN, kPiece)) {
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    drained += static_cast<std::size_t>(got);
  }
}

bool Connection::is_readable() const { return begin_ < end_ || wait(POLLIN, 0); }
bool Connection::is_writable() const { return !failed_ && wait(POLLOUT, 0) && !peer_gone(); }

double Connection::seconds_left() const {
  const double passed = std::chrono::duration<double>(Clock::now() - phase_start_).count();
  if (phase_ == Phase::kHeaders) return limits_.header_seconds - passed;
  return limits_.body_start_seconds +
         static_cast<double>(received_) / limits_.body_bytes_per_second - passed;
}

ssize_t Connection::fill() {
  begin_ = end_ = 0;
  ssize_t got = 0;
  do {
    got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) end_ = static_cast<std::size_t>(got);
  return got;
}

ssize_t Connection::read(char* ptr, size_t size) {
  if (failed_) return -1;
  if (begin_ == end_) {
    const double left = seconds_left();
    if (left <= 0 || !wait(POLLIN, left)) {
      return fail(408, "Request Timeout", "the request came too slowly; send it faster");
    }
    const ssize_t got = fill();
    if (got <= 0) return got;
  }
  const std::size_t count = std::min(size, end_ - begin_);
  std::memcpy(ptr, buffer_.data() + begin_, count);
  begin_ += count;
  received_ += count;
  if (phase_ == Phase::kHeaders && received_ > limits_.header_bytes) {
    return fail(431, "Request Header Fields Too Large",
                "the headers are too long; send fewer or shorter ones");
  }
  return static_cast<ssize_t>(count);
}

bool Connection::send_all(const char* data, std::size_t size) {
  while (size > 0) {
    if (!wait(POLLOUT, limits_.write_seconds)) return false;
    const ssize_t sent = ::send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

ssize_t Connection::write(const char* ptr, size_t size) {
  if (failed_) return -1;
  if (send_all(ptr, size)) return static_cast<ssize_t>(size);
  failed_ = true;
  return -1;
}

std::string closing_answer(int status, std::string_view reason, std::string_view message) {
  const std::string body =
      fmt::format(R"({{"error":{{"message":"{}","type":"{}","param":null,"code":{}}}}})", message,
                  status < 500 ? "invalid_request_error" : "server_error", status);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Connection: close\r\n{}\r\n{}",
      status, reason, body.size(), status == 503 ? "Retry-After: 1\r\n" : "", body);
}

ssize_t Connection::fail(int status, std::string_view reason, std::string_view message) {
  const std::string answer = closing_answer(status, reason, message);
  send_all(answer.data(), answer.size());
  failed_ = true;
  return -1;
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  address_of(socket_, ::getpeername, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  address_of(socket_, ::getsockname, ip, port);
}

}  // namespace addp
