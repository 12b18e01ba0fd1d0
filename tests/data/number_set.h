// A data set of pictures of one number each, some of them broken.
#pragma once

#include <atomic>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/set/dataset.h"
#include "data/small_sets.h"

namespace addp::testing {

class NumberSet final : public Dataset {
 public:
  explicit NumberSet(std::int64_t size, std::set<std::int64_t> bad = {})
      : size_(size), bad_(std::move(bad)) {}
  std::int64_t size() const override { return size_; }
  std::string name(std::int64_t index) const override { return "picture " + std::to_string(index); }
  Sample get(std::int64_t index) const override {
    ++loads;
    if (bad_.contains(index)) throw DataError("{}: is broken", name(index));
    Sample sample;
    sample.name = name(index);
    sample.id = index;
    sample.class_id = static_cast<int>(index % 10);
    sample.image = numbered_picture(static_cast<int>(index), 4, 4);
    return sample;
  }
  mutable std::atomic<int> loads{0};

 private:
  std::int64_t size_;
  std::set<std::int64_t> bad_;
};

}  // namespace addp::testing
