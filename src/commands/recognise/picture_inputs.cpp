#include "commands/recognise/picture_inputs.h"

#include <optional>

#include "base/error.h"
#include "base/file_io.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/load/open_dataset.h"
#include "data/set/dataset.h"
#include "data/shapes/shapes.h"

namespace addp {

PictureInputs::PictureInputs(const std::vector<std::string>& specs) {
  for (const std::string& spec : specs) {
    is_shapes_spec(spec) ? add_shapes(spec) : add_files(spec);
  }
}

void PictureInputs::add(std::string source, const std::string& name, std::function<Image()> image) {
  const std::filesystem::path path(name);
  const std::string plain = path.stem().string();
  std::string stem = plain;
  const auto free = [this](const std::string& one) {
    return !taken_.contains(one) && !taken_.contains(one + "-labels");
  };
  for (int number = 2; !free(stem); ++number) stem = fmt::format("{}-{}", plain, number);
  taken_.insert({stem, stem + "-labels"});
  entries_.push_back(
      {std::move(source), path.filename().string(), std::move(stem), std::move(image)});
}

void PictureInputs::add_files(const std::string& spec) {
  const auto source = open_source(spec);
  const std::size_t before = entries_.size();
  for (std::size_t i = 0; i < source->size(); ++i) {
    if (!is_picture(*source, i)) continue;
    add(source->describe(i), source->names()[i], [source, i] {
      const FileBytes bytes = source->read(i);
      return decode_image(bytes.view, source->describe(i));
    });
  }
  if (entries_.size() == before) throw DataError("{}: holds no pictures", spec);
}

void PictureInputs::add_shapes(const std::string& spec) {
  const auto set = open_dataset(spec, "all", Task::kPictures);
  for (std::int64_t i = 0; i < set->size(); ++i) {
    add(set->name(i), set->name(i), [set, i] { return set->get(i).picture(); });
  }
}

void PictureInputs::make_output_folder(const std::filesystem::path& out) const {
  make_folder(out);
  std::error_code error;
  const auto folder = std::filesystem::canonical(out, error);
  for (const Entry& entry : entries_) {
    const auto at = std::filesystem::weakly_canonical(entry.source, error).parent_path();
    if (at != folder) continue;
    throw UsageError("--out {}: the pictures themselves are in there; choose another folder", out);
  }
}

std::size_t PictureInputs::for_each(
    const std::string& label,
    const std::function<void(const PictureInput&, std::size_t)>& visit) const {
  Progress progress(label, static_cast<std::int64_t>(size()), "pictures");
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    throw_if_interrupted("what was written is complete; run the command again for the rest");
    std::optional<PictureInput> input;
    try {
      input = load(i);
    } catch (const DataError& error) {
      warn("left out: {}", error.what());
      ++left_out;
    }
    if (input) visit(*input, i);
    progress.advance();
  }
  progress.finish();
  return left_out;
}

void PictureInputs::require_all_read(std::size_t left_out) const {
  if (left_out == 0) return;
  throw DataError("{} of {} pictures could not be read; the others are done", left_out, size());
}

PictureInput PictureInputs::load(std::size_t index) const {
  const Entry& entry = entries_[index];
  return {entry.source, entry.file, entry.stem, entry.image()};
}

}  // namespace addp
