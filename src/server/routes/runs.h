// The runs of trainings below a folder, as they are being written. Nothing is opened but what a
// listing of that folder names.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace addp {

class RunFolder {
 public:
  // Empty: there are no runs.
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}

  bool exists() const { return !root_.empty(); }
  // [{name, step, steps, seconds_since_update, seconds_left, speed, pictures}], newest first.
  nlohmann::json list() const;
  // {lines, next}: whole lines of the log from byte `from` on; {restarted: true} as well where the
  // log became shorter. Nothing for a name that is not listed.
  std::optional<nlohmann::json> log(const std::string& run, std::int64_t from) const;
  // The bytes of a picture that list() names.
  std::optional<std::string> picture(const std::string& run, const std::string& name) const;

 private:
  struct Run {
    std::string name;  // its path below the root, or the root's own name
    std::filesystem::path path;
  };
  std::vector<Run> find_runs() const;
  std::optional<std::filesystem::path> find(const std::string& run) const;

  std::filesystem::path root_;
};

}  // namespace addp
