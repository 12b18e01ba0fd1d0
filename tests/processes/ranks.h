// Runs a test of this very program in several processes: the tests named DISABLED_ are the parts
// that such a process plays.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace addp::testing {

// The command that plays `part` ("Suite.DISABLED_name").
inline std::vector<std::string> play(const std::string& part) {
  return {std::filesystem::read_symlink("/proc/self/exe").string(),
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", "--gtest_filter=" + part};
}

// A port of this machine that nobody listens on.
inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

}  // namespace addp::testing
