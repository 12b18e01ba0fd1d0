// The server's side of raw connections: what is odd, slow or too much.
#include "server/http/connection.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "server/http/fields.h"
#include "server/http/http_error.h"
#include "server/http/http_server.h"
#include "support/no_more_threads.h"

namespace addp {
namespace {

HttpLimits quick() {
  HttpLimits limits;
  limits.header_seconds = limits.body_start_seconds = 0.2;
  limits.idle_seconds = 0.4;
  limits.write_seconds = 0.4;
  limits.header_bytes = 4096;
  limits.body_bytes = 1000;
  return limits;
}

// A server with one route that counts the bytes of its body.
class TestServer : public HttpServer {
 public:
  explicit TestServer(const HttpLimits& limits = quick()) : HttpServer(limits) {
    Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("hello", "text/plain");
    });
    Post("/count", [this](const httplib::Request& request, httplib::Response& response,
                          const httplib::ContentReader& reader) {
      try {
        const Fields fields = read_fields(request, reader, this->limits());
        std::size_t bytes = 0;
        for (const auto& [name, file] : fields.files) bytes += file.size();
        response.set_content(std::to_string(bytes) + "/" + std::to_string(fields.texts.size()),
                             "text/plain");
      } catch (const std::exception& error) {
        answer_error(response, error);
      }
    });
  }

  // What comes back for the pieces, sent with pauses between them.
  std::string exchange(const std::vector<std::string>& pieces, double pause = 0.01,
                       bool shut = true) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    std::thread server([&] {
      serve(ends[1]);
      ::close(ends[1]);
    });
    for (const std::string& piece : pieces) {
      ::send(ends[0], piece.data(), piece.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    }
    if (shut) ::shutdown(ends[0], SHUT_WR);
    std::string answer(65536, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < answer.size();) {
      got = ::recv(ends[0], answer.data() + size, answer.size() - size, 0);
      if (got > 0) size += std::size_t(got);
    }
    ::close(ends[0]);
    server.join();
    answer.resize(size);
    return answer;
  }
};

bool begins(const std::string& answer, int status) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

std::string post(const std::string& body, const std::string& type = "image/png") {
  return "POST /count HTTP/1.1\r\nHost: x\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(Connection, ServesSeveralRequests) {
  TestServer server;
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(count(server.exchange({get + get, get}), "hello"), 3u);
  EXPECT_EQ(count(server.exchange({post("abc") + get}), "200 OK"), 2u);
  EXPECT_NE(server.exchange({post("abc")}).find("3/0"), std::string::npos);
}

TEST(Connection, BytesMayComeOneByOne) {
  TestServer server;
  std::vector<std::string> letters;
  for (const char c : std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) letters.push_back({c});
  EXPECT_TRUE(begins(server.exchange(letters, 0.002), 200));
}

TEST(Connection, SlowHeadersEnd) {
  TestServer server;
  // A letter now and then keeps no connection alive: all of the headers share one limit.
  std::vector<std::string> drops(12, "X-A: b\r\n");
  drops.insert(drops.begin(), "GET / HTTP/1.1\r\n");
  EXPECT_TRUE(begins(server.exchange(drops, 0.05), 408));
}

TEST(Connection, SlowBodiesEnd) {
  TestServer server;
  std::vector<std::string> drops(12, "x");
  drops.insert(
      drops.begin(),
      "POST /count HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 900\r\n\r\n");
  EXPECT_TRUE(begins(server.exchange(drops, 0.05), 408));
}

TEST(Connection, SilentClientsAreLeft) {
  TestServer server;
  EXPECT_EQ(server.exchange({}, 0, /*shut=*/false), "");
}

TEST(Connection, EndlessHeadersEnd) {
  TestServer server;
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 1000; ++i) many += "X-" + std::to_string(i) + ": yyyyyyyy\r\n";
  EXPECT_TRUE(begins(server.exchange({many + "\r\n"}), 431));
  EXPECT_TRUE(
      begins(server.exchange({"GET /" + std::string(10000, 'a') + " HTTP/1.1\r\n\r\n"}), 431));
}

TEST(Connection, LargeBodiesAreRefused) {
  TestServer server;
  EXPECT_TRUE(begins(server.exchange({post(std::string(1001, 'x'))}), 413));
  // Chunks say no length beforehand.
  std::string chunks =
      "POST /count HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20; ++i) chunks += "64\r\n" + std::string(100, 'x') + "\r\n";
  EXPECT_TRUE(begins(server.exchange({chunks + "0\r\n\r\n"}), 413));
  std::string few =
      "POST /count HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_NE(server.exchange({few + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"}).find("5/0"),
            std::string::npos);
}

TEST(Connection, WhatFollowsAnUnreadBodyIsNoRequest) {
  TestServer server;
  const std::string hidden = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string refused = "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                              std::to_string(5000 + hidden.size()) + "\r\n\r\n" +
                              std::string(5000, '\n') + hidden;
  EXPECT_EQ(count(server.exchange({refused}), "hello"), 0u);
}

TEST(Connection, Forms) {
  TestServer server;
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"../../etc/passwd\"\r\n"
      "Content-Type: image/png\r\n\r\nabc\r\n--b\r\nContent-Disposition: form-data; "
      "name=\"steps\"\r\n\r\n8\r\n--b--\r\n";
  EXPECT_NE(server.exchange({post(form, "multipart/form-data; boundary=b")}).find("3/1"),
            std::string::npos);
  EXPECT_TRUE(begins(server.exchange({post(form, "multipart/form-data")}), 400));
  EXPECT_TRUE(begins(server.exchange({post("junk", "multipart/form-data; boundary=b")}), 400));
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n";
  HttpLimits wide = quick();
  wide.body_bytes = 1 << 20;
  TestServer roomy(wide);
  EXPECT_TRUE(
      begins(roomy.exchange({post(many + "--b--\r\n", "multipart/form-data; boundary=b")}), 400));
}

TEST(Connection, JunkIsAnswered) {
  TestServer server;
  for (const char* junk : {"\r\n\r\n", "HELLO\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
                           "GET / HTTP/1.1\r\nno colon\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n"}) {
    const std::string answer = server.exchange({junk});
    EXPECT_FALSE(begins(answer, 500)) << junk;
  }
}

TEST(Connection, OneTooManyIsTold) {
  HttpLimits limits = quick();
  limits.connections = 2;
  limits.idle_seconds = 5;
  TestServer server(limits);
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread listener([&] { server.listen_after_bind(); });
  httplib::Client first("127.0.0.1", port), second("127.0.0.1", port), third("127.0.0.1", port);
  for (auto* client : {&first, &second}) {
    client->set_keep_alive(true);
    EXPECT_EQ(client->Get("/")->status, 200);
  }
  const auto answer = third.Get("/");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->get_header_value("Retry-After"), "1");
  first.stop();
  // Its place is free as soon as the server has seen that it went.
  int status = 503;
  for (int i = 0; i < 100 && status == 503; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (const auto again = third.Get("/")) status = again->status;
  }
  EXPECT_EQ(status, 200);
  server.drain();
  server.stop();
  listener.join();
}

int connected(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  ::send(socket, get.data(), get.size(), MSG_NOSIGNAL);
  return socket;
}

std::string answer_of(int socket) {
  std::string answer(1000, '\0');
  answer.resize(std::size_t(std::max<ssize_t>(0, ::recv(socket, answer.data(), 1000, 0))));
  return answer;
}

TEST(Connection, WaitsWhereThereAreNoMoreThreads) {
  HttpLimits limits = quick();
  limits.idle_seconds = 60;
  TestServer server(limits);
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread listener([&] { server.listen_after_bind(); });
  const int first = connected(port);
  EXPECT_TRUE(begins(answer_of(first), 200));
  {
    const testing::NoMoreThreads scope;
    EXPECT_THROW(std::thread([] {}).join(), std::system_error);
    // At most one thread is there beside the first connection's, so that one of these two waits.
    const int second = connected(port), third = connected(port);
    ::close(first);
    const std::string one = answer_of(second);
    ::close(second);
    EXPECT_TRUE(begins(one, 200));
    EXPECT_TRUE(begins(answer_of(third), 200));
    ::close(third);
  }
  server.drain();
  server.stop();
  listener.join();
}

}  // namespace
}  // namespace addp
