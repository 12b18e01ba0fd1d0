#include "commands/recognise/picture_inputs.h"

#include <set>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/log.h"
#include "data/load/open_dataset.h"
#include "data/load/picture_pass.h"
#include "data/shapes/shapes.h"

namespace addp {

class PictureInputs::Entries final : public Dataset {
 public:
  struct Entry {
    std::string source, file, stem;
    std::function<Sample()> load;
  };

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::string name(std::int64_t index) const override { return at(index).source; }
  Sample get(std::int64_t index) const override { return at(index).load(); }
  const Entry& at(std::int64_t index) const { return entries_.at(static_cast<std::size_t>(index)); }

  void add(std::string source, const std::string& name, std::function<Sample()> load) {
    const std::filesystem::path path(name);
    const std::string plain = path.stem().string();
    std::string stem = plain;
    const auto free = [this](const std::string& one) {
      return !taken_.contains(one) && !taken_.contains(one + "-labels");
    };
    for (int number = 2; !free(stem); ++number) stem = fmt::format("{}-{}", plain, number);
    taken_.insert({stem, stem + "-labels"});
    entries_.push_back(
        {std::move(source), path.filename().string(), std::move(stem), std::move(load)});
  }

 private:
  std::vector<Entry> entries_;
  std::set<std::string> taken_;  // stems
};

PictureInputs::PictureInputs(const std::vector<std::string>& specs)
    : entries_(std::make_shared<Entries>()) {
  for (const std::string& spec : specs) {
    is_shapes_spec(spec) ? add_shapes(spec) : add_files(spec);
  }
}

void PictureInputs::add_files(const std::string& spec) {
  const auto source = open_source(spec);
  const std::int64_t before = entries_->size();
  for (std::size_t i = 0; i < source->size(); ++i) {
    if (!is_picture(*source, i)) continue;
    entries_->add(source->describe(i), source->names()[i], [source, i] {
      Sample sample;
      sample.name = source->describe(i);
      sample.encoded = source->read(i);
      return sample;
    });
  }
  if (entries_->size() == before) throw DataError("{}: holds no pictures", spec);
}

void PictureInputs::add_shapes(const std::string& spec) {
  const auto set = open_dataset(spec, "all", Task::kPictures);
  for (std::int64_t i = 0; i < set->size(); ++i) {
    entries_->add(set->name(i), set->name(i), [set, i] { return set->get(i); });
  }
}

std::int64_t PictureInputs::size() const { return entries_->size(); }

void PictureInputs::make_output_folder(const std::filesystem::path& out) const {
  make_folder(out);
  std::error_code error;
  const auto folder = std::filesystem::canonical(out, error);
  for (std::int64_t i = 0; i < entries_->size(); ++i) {
    const auto at = std::filesystem::weakly_canonical(entries_->name(i), error).parent_path();
    if (at != folder) continue;
    throw UsageError("--out {}: the pictures themselves are in there; choose another folder", out);
  }
}

std::int64_t PictureInputs::for_each(
    const std::string& label,
    const std::function<void(const PictureInput&, std::size_t)>& visit) const {
  const PicturePass pass{
      .max_broken = 1,
      .label = label,
      .when_interrupted = "what was written is complete; run the command again for the rest"};
  std::int64_t refused = 0;
  const auto guarded = [&](BatchItem& item) {
    const Entries::Entry& entry = entries_->at(item.index);
    try {
      visit({entry.source, entry.file, entry.stem, std::move(item.image)},
            static_cast<std::size_t>(item.index));
    } catch (const DataError& error) {
      const bool named = std::string_view(error.what()).find(entry.source) != std::string::npos;
      warn("left out: {}{}", named ? "" : entry.source + ": ", error.what());
      ++refused;
    }
  };
  return for_each_sample(entries_, pass, guarded).left_out + refused;
}

void require_all_read(std::int64_t left_out, std::int64_t all) {
  if (left_out == 0) return;
  throw DataError("{} of {} pictures could not be read and are named above; the others are done",
                  left_out, all);
}

}  // namespace addp
