#include "server/http/http_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <list>
#include <string>
#include <system_error>

#include "base/log.h"
#include "server/http/connection.h"

namespace addp {
namespace {

// A thread for each connection that is open, made when none is idle. One more than there may be
// connections, so that the connection that is too many is told so at once. Where the system gives
// no more threads, a connection waits for one of those there are; the first is there from the
// start.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(std::size_t most) : most_(most) { start_thread(); }

  void enqueue(std::function<void()> work) override {
    std::unique_lock lock(mutex_);
    waiting_.push_back(std::move(work));
    if (idle_ < waiting_.size() && threads_.size() < most_) {
      start_thread();
    }
    changed_.notify_one();
  }

  void shutdown() override {
    {
      std::unique_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

 private:
  void start_thread() {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {
      warn("no more threads for connections, some of which will wait: {}", error.code().message());
    }
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      const auto work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::size_t most_, idle_ = 0;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
};

}  // namespace

HttpServer::HttpServer(const HttpLimits& limits) : limits_(limits) {
  // Called once, when listening begins. httplib's library lets 5 connections wait to be accepted:
  // the rest of a burst would be turned away by the system.
  new_task_queue = [this] {
    ::listen(svr_sock_, static_cast<int>(limits_.connections));
    return new ConnectionThreads(limits_.connections + 1);
  };
  set_payload_max_length(limits_.body_bytes);
  set_tcp_nodelay(true);
  // Not httplib's default, SO_REUSEPORT, with which two servers would share a port unnoticed.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_keep_alive_max_count(1'000'000);
  set_keep_alive_timeout(static_cast<time_t>(limits_.idle_seconds));
}

void HttpServer::serve(int socket) {
  Connection connection(socket, limits_);
  CurrentConnection scope(connection);
  bool closed = false;
  while (!closed && connection.await_request([this] { return draining_.load(); })) {
    connection.begin_request();
    const bool answered =
        process_request(connection, /*close_connection=*/draining_, closed,
                        [&](httplib::Request& request) { connection.begin_body(request); });
    if (!answered || connection.body_left()) break;
  }
  connection.finish();
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  if (static_cast<std::size_t>(++connections_) > limits_.connections) {
    const std::string answer = closing_answer(
        503, "Service Unavailable", "too many connections are open; close some and try again");
    ::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  } else {
    serve(socket);
  }
  --connections_;
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return true;
}

}  // namespace addp
