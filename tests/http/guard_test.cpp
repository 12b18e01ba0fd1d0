#include "server/http/guard.h"

#include <gtest/gtest.h>

#include "server/http/http_error.h"

namespace addp {
namespace {

httplib::Request request(const std::string& method, const std::string& path,
                         const httplib::Headers& headers) {
  httplib::Request out;
  out.method = method;
  out.path = out.target = path;
  out.headers = headers;
  return out;
}

int refusal(const Guard& guard, const httplib::Request& asked) {
  try {
    guard.check(asked);
    return 0;
  } catch (const HttpError& error) {
    return error.status();
  }
}

const Guard kLocal({.host = "127.0.0.1", .port = 8080}, {});
const Guard kOpen({.host = "0.0.0.0", .port = 80, .token = "a secret of some length"}, {});

TEST(Guard, TakesItsOwnNamesOnly) {
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"}) {
    EXPECT_EQ(refusal(kLocal, request("GET", "/api/models", {{"Host", host}})), 0) << host;
  }
  for (const char* host : {"evil.example:8080", "127.0.0.1:8081", "127.0.0.1", "192.168.0.1:8080",
                           "", "localhost.evil.example:8080", "[::1:8080", "[::1]x:8080"}) {
    EXPECT_EQ(refusal(kLocal, request("GET", "/api/models", {{"Host", host}})), 421) << host;
  }
  EXPECT_EQ(refusal(kLocal, request("GET", "/", {})), 400);
  EXPECT_EQ(refusal(kLocal,
                    request("GET", "/", {{"Host", "localhost:8080"}, {"Host", "localhost:8080"}})),
            400);
}

TEST(Guard, RefusesOtherSites) {
  const auto with = [](const char* method, const char* path, const char* name, const char* value) {
    return refusal(kLocal, request(method, path, {{"Host", "localhost:8080"}, {name, value}}));
  };
  EXPECT_EQ(with("POST", "/api/generate", "Origin", "http://localhost:8080"), 0);
  EXPECT_EQ(with("POST", "/api/generate", "Origin", "http://evil.example"), 403);
  EXPECT_EQ(with("POST", "/api/generate", "Origin", "https://localhost:8080"), 403);
  EXPECT_EQ(with("POST", "/api/generate", "Origin", "http://localhost:80801"), 403);
  EXPECT_EQ(with("POST", "/api/generate", "Origin", "null"), 403);
  EXPECT_EQ(with("GET", "/api/models", "Sec-Fetch-Site", "cross-site"), 403);
  EXPECT_EQ(with("GET", "/api/models", "Sec-Fetch-Site", "same-site"), 403);
  EXPECT_EQ(with("GET", "/api/models", "Sec-Fetch-Site", "same-origin"), 0);
  // A link from elsewhere to the page is followed, one to the interface is not.
  const httplib::Headers link = {
      {"Host", "localhost:8080"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}};
  EXPECT_EQ(refusal(kLocal, request("GET", "/", link)), 0);
  EXPECT_EQ(refusal(kLocal, request("GET", "/api/models", link)), 403);
}

TEST(Guard, NeedsTheToken) {
  const auto with = [](const char* path, const char* authorization) {
    return refusal(kOpen,
                   request("GET", path, {{"Host", "10.0.0.7"}, {"Authorization", authorization}}));
  };
  EXPECT_EQ(with("/api/models", "Bearer a secret of some length"), 0);
  EXPECT_EQ(with("/api/models", "bearer a secret of some length"), 0);
  for (const char* wrong :
       {"Bearer a secret of some lengtH", "Bearer a secret of some lengthh", "Bearer ", "",
        "Bearer", "Basic a secret of some length", "a secret of some length"}) {
    EXPECT_EQ(with("/api/models", wrong), 401) << wrong;
    EXPECT_EQ(with("/v1/models", wrong), 401) << wrong;
    EXPECT_EQ(with("/metrics", wrong), 401) << wrong;
    EXPECT_EQ(with("/", wrong), 0) << wrong;
    EXPECT_EQ(with("/healthz", wrong), 0) << wrong;
  }
  EXPECT_EQ(refusal(kOpen, request("POST", "/", {{"Host", "10.0.0.7"}})), 401);
}

TEST(Guard, BodiesHaveOneLength) {
  const auto with = [](const httplib::Headers& more) {
    httplib::Headers headers = more;
    headers.emplace("Host", "localhost:8080");
    return refusal(kLocal, request("POST", "/api/generate", headers));
  };
  EXPECT_EQ(with({{"Content-Length", "33554432"}}), 0);
  EXPECT_EQ(with({{"Content-Length", "33554433"}}), 413);
  EXPECT_EQ(with({{"Content-Length", "99999999999999999999999999"}}), 413);
  EXPECT_EQ(with({{"Content-Length", "-1"}}), 400);
  EXPECT_EQ(with({{"Content-Length", "12x"}}), 400);
  EXPECT_EQ(with({{"Content-Length", "5"}, {"Content-Length", "5"}}), 400);
  EXPECT_EQ(with({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}), 400);
  EXPECT_EQ(with({{"Transfer-Encoding", "gzip"}}), 501);
  EXPECT_EQ(with({{"Content-Encoding", "gzip"}}), 415);
  EXPECT_EQ(
      refusal(kLocal, request("GET", "/" + std::string(4000, 'a'), {{"Host", "localhost:8080"}})),
      414);
}

TEST(Guard, ComparesWholeTexts) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("ab", "abc"));
  EXPECT_FALSE(equal_in_constant_time("", "abc"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace addp
