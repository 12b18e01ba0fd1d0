#include "commands/picture_inputs.h"

#include <fmt/format.h>

#include <set>

#include "data/dataset.h"

namespace addp {

PictureInputs::PictureInputs(const std::vector<std::string>& specs) {
  std::set<std::string> taken;
  for (const std::string& spec : specs) {
    const auto set = open_dataset(spec, "all", Task::kPictures);
    for (std::int64_t i = 0; i < set->size(); ++i) {
      const std::string stem = std::filesystem::path(set->name(i)).stem().string();
      std::string name = stem;
      for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", stem, n);
      entries_.push_back({set, i, name});
    }
  }
}

PictureInput PictureInputs::load(std::size_t index) const {
  const Entry& entry = entries_[index];
  const Sample sample = entry.set->get(entry.index);
  return {sample.name, entry.stem, sample.picture()};
}

}  // namespace addp
