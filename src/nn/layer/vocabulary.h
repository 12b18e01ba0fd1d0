// Token ids: the codes of the tokenizer, then ids for classes, then one for "masked". The published
// networks carry 1000 class ids (2025 rows), of which unconditional models use a single one.
#pragma once

#include <cstdint>

namespace addp {

struct Vocabulary {
  std::int64_t codes = 1024;      // size of the tokenizer's codebook
  std::int64_t class_ids = 1000;  // at least 1: the class position needs an id

  std::int64_t size() const { return codes + class_ids + 1; }
  std::int64_t mask_id() const { return codes + class_ids; }
  // The id of the class position: 1100 in the published networks.
  std::int64_t class_position_id() const { return codes + (class_ids > 76 ? 76 : 0); }
  // How many classes a class-conditional network can tell apart: the class position's own id stands
  // for "no class". The id of class `label` from 0.
  std::int64_t classes() const { return class_ids - 1; }
  std::int64_t class_id(std::int64_t label) const {
    return codes + label + (codes + label >= class_position_id() ? 1 : 0);
  }
  bool operator==(const Vocabulary&) const = default;
};

}  // namespace addp
