// CIFAR-10 and CIFAR-100, binary version: records of one or two label bytes and 3 x 32 x
// 32 planar bytes.
#include <fmt/format.h>

#include "base/error.h"
#include "base/run/progress.h"
#include "data/set/datasets.h"

namespace addp {
namespace {

constexpr int kSide = 32;
constexpr std::size_t kPlane = kSide * kSide;

std::vector<std::string> read_names(const PictureSource& source, const Layout& layout,
                                    const char* file, std::size_t count) {
  std::vector<std::string> names;
  if (const auto entry = source.find(layout.prefix + file)) {
    const FileBytes bytes = source.read(*entry);
    for (const ClassLine& line :
         parse_class_lines({reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size()})) {
      names.push_back(line.name);
    }
  }
  if (names.size() == count) return names;
  if (count == 10) {
    return {"airplane", "automobile", "bird",  "cat",  "deer",
            "dog",      "frog",       "horse", "ship", "truck"};
  }
  names.clear();
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

class CifarDataset final : public Dataset {
 public:
  CifarDataset(const PictureSource& source, const Layout& layout, const LayoutSplit& split)
      : label_bytes_(layout.kind == LayoutKind::kCifar100 ? 2 : 1) {
    const std::size_t count = layout.kind == LayoutKind::kCifar100 ? 100 : 10;
    class_names_ = read_names(source, layout,
                              count == 100 ? "fine_label_names.txt" : "batches.meta.txt", count);
    class_keys_ = class_names_;
    for (const std::size_t entry : split.files) {
      FileBytes bytes = source.read(entry);
      const std::string name = source.describe(entry);
      if (bytes.view.empty() || bytes.view.size() % record() != 0) {
        throw DataError(
            "{}: has {} bytes, which is not a number of {}-byte {} records; is it complete?", name,
            bytes.view.size(), record(), layout_name(layout.kind));
      }
      check_labels(bytes.view, name);
      const auto records = static_cast<std::int64_t>(bytes.view.size() / record());
      ends_.push_back(size() + records);
      files_.push_back(std::move(bytes));
      names_.push_back(name);
    }
    description_ = fmt::format("{}: {}, {} pictures", source.path(), layout.describe(),
                               format_count(static_cast<std::uint64_t>(size())));
  }

  std::int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  std::string name(std::int64_t index) const override {
    const auto [file, inner] = locate(index);
    return fmt::format("{}: record {}", names_[file], inner);
  }
  int class_of(std::int64_t index) const override { return bytes(index)[label_bytes_ - 1]; }
  Sample get(std::int64_t index) const override {
    Sample sample;
    sample.name = name(index);
    sample.id = index;
    sample.class_id = class_of(index);
    sample.image = Image(kSide, kSide);
    const ByteSpan planes = bytes(index).subspan(label_bytes_);
    for (std::size_t i = 0; i < kPlane; ++i) {
      for (std::size_t c = 0; c < 3; ++c) sample.image.pixels[3 * i + c] = planes[c * kPlane + i];
    }
    return sample;
  }

 private:
  std::size_t record() const { return label_bytes_ + 3 * kPlane; }

  void check_labels(ByteSpan file, const std::string& name) const {
    for (std::size_t at = 0; at < file.size(); at += record()) {
      const std::size_t label = file[at + label_bytes_ - 1];
      if (label >= class_names_.size()) {
        throw DataError("{}: record {} has the label {}, but there are {} classes", name,
                        at / record(), label, class_names_.size());
      }
    }
  }

  std::pair<std::size_t, std::int64_t> locate(std::int64_t index) const {
    std::size_t file = 0;
    while (file + 1 < ends_.size() && index >= ends_[file]) ++file;
    return {file, index - (file == 0 ? 0 : ends_[file - 1])};
  }

  ByteSpan bytes(std::int64_t index) const {
    if (index < 0 || index >= size()) throw RuntimeError("picture {} of {}", index, size());
    const auto [file, inner] = locate(index);
    return files_[file].view.subspan(static_cast<std::size_t>(inner) * record(), record());
  }

  std::size_t label_bytes_;
  std::vector<FileBytes> files_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> ends_;
};

}  // namespace

DatasetPtr make_cifar_dataset(const PictureSource& source, const Layout& layout,
                              const LayoutSplit& split) {
  return std::make_shared<CifarDataset>(source, layout, split);
}

}  // namespace addp
