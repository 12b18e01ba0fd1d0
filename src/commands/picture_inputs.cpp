#include "commands/picture_inputs.h"

#include "base/error.h"
#include "data/dataset.h"
#include "data/shapes.h"

namespace addp {

PictureInputs::PictureInputs(const std::vector<std::string>& specs) {
  for (const std::string& spec : specs) {
    is_shapes_spec(spec) ? add_shapes(spec) : add_files(spec);
  }
}

void PictureInputs::add(std::string source, const std::string& name, std::function<Image()> image) {
  const std::filesystem::path path(name);
  std::string stem = path.stem().string();
  const int number = ++taken_[stem];
  if (number > 1) stem += fmt::format("-{}", number);
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

PictureInput PictureInputs::load(std::size_t index) const {
  const Entry& entry = entries_[index];
  return {entry.source, entry.file, entry.stem, entry.image()};
}

}  // namespace addp
