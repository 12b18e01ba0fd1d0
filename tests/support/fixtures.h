// Where the reference answers lie. ADDP_FIXTURES names the folder (default ../shared/fixtures
// beside the source); a small set in tests/fixtures comes with the repository.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace addp::testing {

inline std::filesystem::path outside_fixtures() {
  const char* chosen = std::getenv("ADDP_FIXTURES");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return std::filesystem::path(ADDP_SOURCE_DIR) / "../shared/fixtures";
}

// The folder `name` ("ops", "addp") among the fixtures, or an empty path.
inline std::filesystem::path fixture_folder(const std::string& name) {
  for (const auto& root :
       {outside_fixtures(), std::filesystem::path(ADDP_SOURCE_DIR) / "tests/fixtures"}) {
    if (std::filesystem::is_directory(root / name)) return root / name;
  }
  return {};
}

// The same for one file ("ops/real_weights.safetensors").
inline std::filesystem::path fixture_file(const std::string& name) {
  for (const auto& root :
       {outside_fixtures(), std::filesystem::path(ADDP_SOURCE_DIR) / "tests/fixtures"}) {
    if (std::filesystem::is_regular_file(root / name)) return root / name;
  }
  return {};
}

// Where the published networks lie: ADDP_WEIGHTS, by default beside the source.
inline std::filesystem::path weights_file(const std::string& name) {
  const char* chosen = std::getenv("ADDP_WEIGHTS");
  if (chosen != nullptr && *chosen != '\0') return std::filesystem::path(chosen) / name;
  return std::filesystem::path(ADDP_SOURCE_DIR) / "../shared/weights" / name;
}

// Every folder that holds the released networks' answers (it has a train_step.safetensors).
inline std::vector<std::filesystem::path> network_fixtures() {
  std::vector<std::filesystem::path> found;
  for (const auto& root :
       {std::filesystem::path(ADDP_SOURCE_DIR) / "tests/fixtures", outside_fixtures()}) {
    if (!std::filesystem::is_directory(root)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      if (std::filesystem::exists(entry.path() / "train_step.safetensors"))
        found.push_back(entry.path());
    }
  }
  return found;
}

}  // namespace addp::testing

// A test that cannot run here says what it needs, in the words that tools/skipped.py knows: it
// tells whether the machine has that after all.
#define ADDP_REQUIRE_FIXTURE(variable, name)                                    \
  const std::filesystem::path variable = ::addp::testing::fixture_folder(name); \
  if (variable.empty()) GTEST_SKIP() << "needs fixture " << (name)

#define ADDP_REQUIRE_FIXTURE_FILE(variable, name)                             \
  const std::filesystem::path variable = ::addp::testing::fixture_file(name); \
  if (variable.empty()) GTEST_SKIP() << "needs fixture " << (name)

#define ADDP_REQUIRE_WEIGHTS(variable, name)                                  \
  const std::filesystem::path variable = ::addp::testing::weights_file(name); \
  if (!std::filesystem::exists(variable)) GTEST_SKIP() << "needs weights " << (name)
