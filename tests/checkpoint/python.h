// Python's torch as the outside truth, where there is one.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file/file_io.h"
#include "checkpoint/layout/checkpoint.h"
#include "support/temporary_folder.h"

namespace addp::testing {

// ADDP_PYTHON, or the one of the private environment that the build uses; empty
// where neither exists.
inline std::string python() {
  if (const char* chosen = std::getenv("ADDP_PYTHON")) return chosen;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path root = cache != nullptr  ? std::filesystem::path(cache)
                                     : home != nullptr ? std::filesystem::path(home) / ".cache"
                                                       : std::filesystem::path();
  const auto candidate = root / "addp/torch-2.13.0/bin/python";
  return std::filesystem::exists(candidate) ? candidate.string() : "";
}

// Runs tests/checkpoint/reference.py; true if it succeeded.
inline bool run_reference(const std::string& arguments) {
  const std::string command = "'" + python() + "' '" + std::string(ADDP_SOURCE_DIR) +
                              "/tests/checkpoint/reference.py' " + arguments;
  return std::system(command.c_str()) == 0;
}

// Compares key for key and byte for byte with what reference.py wrote to
// `dump`.json and `dump`.bin.
inline void expect_same_tensors(const TensorMap& tensors, const std::string& dump) {
  const auto index = nlohmann::json::parse(read_text_file(dump + ".json"));
  const Bytes data = read_file(dump + ".bin");
  const auto& expected = index["tensors"];
  EXPECT_EQ(tensors.size(), expected.size());
  std::size_t offset = 0;
  for (const auto& [name, view] : tensors) {
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_EQ(dtype_name(view.dtype), expected[name]["dtype"].get<std::string>()) << name;
    ASSERT_EQ(nlohmann::json(view.shape), expected[name]["shape"]) << name;
    const Bytes bytes = view.contiguous_bytes();
    ASSERT_LE(offset + bytes.size(), data.size()) << name;
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), data.begin() + static_cast<long>(offset)))
        << name;
    offset += bytes.size();
  }
  EXPECT_EQ(offset, data.size());
}

}  // namespace addp::testing

#define ADDP_REQUIRE_PYTHON() \
  if (::addp::testing::python().empty()) GTEST_SKIP() << "needs python torch"
