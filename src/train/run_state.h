// What a run keeps of itself: OUT/last.safetensors, and OUT/previous.safetensors with the state
// before it, for when the last one turns out to be damaged.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "train/stage.h"

namespace addp {

// What a checkpoint says beside its tensors.
struct RunState {
  std::string stage;
  std::int64_t step = 0;
  std::optional<double> best;   // figure of OUT/best.safetensors
  std::int64_t evaluated = -1;  // the step of the newest evaluation, and what it gave:
  Metrics evaluation{};
  std::string configuration{};  // the run's options as TOML
  std::string arithmetic{};     // bf16 or fp32: what the precision asked for came to
};

class RunFiles {
 public:
  explicit RunFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path last() const { return folder_ / "last.safetensors"; }
  std::filesystem::path previous() const { return folder_ / "previous.safetensors"; }

  // Where the state is that was loaded or saved last.
  std::filesystem::path newest() const { return last_is_whole_ ? last() : previous(); }

  struct Saved {
    std::filesystem::path path;
    RunState state;
    TensorMap tensors;
  };
  // The newest state that is whole; nothing where there is none. A damaged last one is warned
  // about; without one before it, it is a DataError, as is the state of another stage.
  std::optional<Saved> load(const std::string& stage);
  // Atomic. A NonFiniteError where a tensor holds NaN or an infinity; nothing is written then.
  void save(const RunState& state, const TensorMap& tensors);
  // Another run begins in this folder: what an earlier one left is never fallen back to.
  void forget();

 private:
  void keep_previous() const;

  std::filesystem::path folder_;
  bool last_is_whole_ = false;  // and of this run
};

// Warns of settings that differ between a run and its resumption and change the result.
void warn_of_changes(const std::string& before, const std::string& now, const std::string& source);

}  // namespace addp
