// How often each class was taken for each other one. Streaming: memory does not grow with the data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/types.h"

namespace addp {

// Where labels came from, for messages; empty where nothing is known.
struct LabelSources {
  std::string truth{}, prediction{};
};

class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(std::int64_t classes);
  // From counts() of others, summed up.
  ConfusionMatrix(std::int64_t classes, std::vector<std::int64_t> counts);

  // Integer tensors of the same shape. Truths equal to `ignore` are left out; any other truth or
  // prediction outside 0..classes-1 is a DataError that names it and its source.
  void add(const Tensor& truth, const Tensor& prediction,
           std::optional<std::int64_t> ignore = std::nullopt, const LabelSources& sources = {});
  void add(const ConfusionMatrix& other);

  std::int64_t classes() const { return classes_; }
  std::int64_t at(std::int64_t truth, std::int64_t prediction) const;
  std::int64_t truths(std::int64_t label) const;       // the sum of a row
  std::int64_t predictions(std::int64_t label) const;  // the sum of a column
  std::int64_t total() const;
  std::int64_t correct() const;
  const std::vector<std::int64_t>& counts() const { return counts_; }  // [truth, prediction]

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> counts_;
};

}  // namespace addp
