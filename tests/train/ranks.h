// Runs a test of this very program in several processes: the tests named DISABLED_ are the parts
// that such a process plays.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace addp::testing {

// The command that plays `part` ("Suite.DISABLED_name").
inline std::vector<std::string> play(const std::string& part) {
  return {std::filesystem::read_symlink("/proc/self/exe").string(),
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", "--gtest_filter=" + part};
}

}  // namespace addp::testing
