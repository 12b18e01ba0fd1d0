// Strict loading: what a network expects against what a file holds, every difference at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

// Patterns name keys; '*' stands for any letters: "decoder_pred.*", "*.num_batches_tracked".
struct CompareOptions {
  std::vector<std::string> allow_missing;  // expected keys that the file need not have
  std::vector<std::string> ignore;         // keys of the file that nothing has to use
};

struct KeyReport {
  struct Shape {
    std::string name;
    std::vector<std::int64_t> expected, found;
  };
  std::vector<std::string> missing;     // expected, not in the file, not allowed to be missing
  std::vector<std::string> unexpected;  // in the file, expected by nothing, not ignored
  std::vector<Shape> mis_shaped;
  std::vector<std::string> ignored;  // in the file, and ignored on request
  std::size_t matched = 0;

  bool ok() const { return missing.empty() && unexpected.empty() && mis_shaped.empty(); }
  // Every difference, one line each; "" if there is none.
  std::string to_string() const;
  // A DataError with to_string() behind the file's name unless ok().
  void require(const std::string& file) const;
};

using ShapeMap = std::map<std::string, std::vector<std::int64_t>>;

KeyReport compare_keys(const ShapeMap& expected, const TensorMap& found,
                       const CompareOptions& options = {});

// The tensors below `prefix`, without it: "vqgan." turns vqgan.encoder.x into encoder.x.
TensorMap with_prefix_removed(const TensorMap& tensors, const std::string& prefix);

bool matches_pattern(std::string_view text, std::string_view pattern);
bool matches_any(const std::string& name, const std::vector<std::string>& patterns);

}  // namespace addp
