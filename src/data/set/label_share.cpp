#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "base/run/progress.h"
#include "data/set/datasets.h"

namespace addp {
namespace {

class LabelShare final : public Dataset {
 public:
  LabelShare(DatasetPtr whole, std::vector<std::int64_t> chosen, double share)
      : whole_(std::move(whole)), chosen_(std::move(chosen)) {
    class_names_ = whole_->class_names();
    class_keys_ = whole_->class_keys();
    problems_ = whole_->problems();
    description_ = fmt::format("{}; {:g}% of them: {}", whole_->description(), 100 * share,
                               format_count(chosen_.size()));
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(chosen_.size()); }
  Sample get(std::int64_t index) const override { return whole_->get(place(index)); }
  std::string name(std::int64_t index) const override { return whole_->name(place(index)); }
  int class_of(std::int64_t index) const override { return whole_->class_of(place(index)); }

 private:
  std::int64_t place(std::int64_t index) const {
    return chosen_.at(static_cast<std::size_t>(index));
  }

  DatasetPtr whole_;
  std::vector<std::int64_t> chosen_;
};

}  // namespace

DatasetPtr share_of_labels(DatasetPtr dataset, double share, std::uint64_t seed) {
  if (share >= 1) return dataset;
  std::map<int, std::vector<std::int64_t>> by_class;
  for (std::int64_t i = 0; i < dataset->size(); ++i) by_class[dataset->class_of(i)].push_back(i);
  std::vector<std::int64_t> chosen;
  for (const auto& [label, pictures] : by_class) {
    const auto count = static_cast<double>(pictures.size());
    const auto wanted = std::max<std::int64_t>(1, std::llround(share * count));
    const auto order = RandomStream(seed, "label share")
                           .fork("class", static_cast<std::uint64_t>(label + 1))
                           .permutation(static_cast<std::int64_t>(pictures.size()));
    for (std::int64_t i = 0; i < wanted; ++i) {
      chosen.push_back(pictures[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return std::make_shared<LabelShare>(std::move(dataset), std::move(chosen), share);
}

}  // namespace addp
