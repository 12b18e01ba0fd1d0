#include "data/set/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "base/text.h"

namespace addp {
namespace {

// The names of a source below `prefix`, cut into their folders.
struct Entry {
  std::size_t index;
  std::vector<std::string> parts;  // at least one; the last is the file

  const std::string& file() const { return parts.back(); }
  std::string stem() const { return parts.back().substr(0, parts.back().rfind('.')); }
};

std::vector<std::string> cut(std::string_view name) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t slash = name.find('/');
    parts.emplace_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

bool is_split_name(const std::string& name) {
  const std::string canonical = canonical_split(name);
  return canonical == "train" || canonical == "val" || canonical == "test";
}

int split_rank(const std::string& name) {
  const std::string canonical = canonical_split(name);
  return canonical == "train" ? 0 : canonical == "val" ? 1 : canonical == "test" ? 2 : 3;
}

void sort_splits(Layout& layout) {
  std::stable_sort(layout.splits.begin(), layout.splits.end(),
                   [](const LayoutSplit& a, const LayoutSplit& b) {
                     const int x = split_rank(a.name), y = split_rank(b.name);
                     return x != y ? x < y : a.name < b.name;
                   });
}

// The split of that name, made where it is new.
LayoutSplit& split_named(Layout& layout, const std::string& name) {
  for (LayoutSplit& split : layout.splits) {
    if (split.name == name) return split;
  }
  layout.splits.emplace_back().name = name;
  return layout.splits.back();
}

class Recogniser {
 public:
  explicit Recogniser(const PictureSource& source) : source_(source), picture_(source.size(), -1) {}

  Layout recognise() {
    set_prefix("");
    if (structured()) return finish();
    const std::string top = common_top();
    if (!top.empty()) {
      set_prefix(top + "/");
      if (structured() || class_folders()) return finish();
      set_prefix("");
    }
    if (!class_folders()) flat();
    return finish();
  }

 private:
  void set_prefix(const std::string& prefix) {
    layout_ = {};
    layout_.prefix = prefix;
    entries_.clear();
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const std::string& name = source_.names()[i];
      if (name.starts_with(prefix)) {
        entries_.push_back({i, cut(std::string_view(name).substr(prefix.size()))});
      }
    }
  }

  // Looking into a file is slow: once is enough.
  bool picture(std::size_t index) {
    signed char& known = picture_[index];
    if (known < 0) known = is_picture(source_, index) ? 1 : 0;
    return known == 1;
  }

  std::string common_top() const {
    std::string top;
    for (const Entry& entry : entries_) {
      if (entry.parts.size() < 2) continue;  // a stray README beside the folder
      if (top.empty()) top = entry.parts.front();
      if (entry.parts.front() != top) return {};
    }
    return top;
  }

  bool structured() { return cifar() || coco() || segmentation() || split_folders(); }

  LayoutSplit& split(const std::string& name) { return split_named(layout_, name); }

  bool cifar() {
    bool hundred = false;
    std::vector<const Entry*> train, test;
    for (const Entry& entry : entries_) {
      if (entry.parts.size() != 1) continue;
      const std::string& file = entry.file();
      if (file.starts_with("data_batch_") && file.ends_with(".bin")) train.push_back(&entry);
      if (file == "test_batch.bin" || file == "test.bin") test.push_back(&entry);
      if (file == "train.bin") {
        train.push_back(&entry);
        hundred = true;
      }
    }
    if (train.empty()) return false;
    layout_.kind = hundred ? LayoutKind::kCifar100 : LayoutKind::kCifar10;
    for (const Entry* entry : train) split("train").files.push_back(entry->index);
    for (const Entry* entry : test) split("test").files.push_back(entry->index);
    return true;
  }

  // annotations/instances_<split>.json, or <split>/_annotations.coco.json.
  bool coco() {
    for (const Entry& entry : entries_) {
      const std::string& file = entry.file();
      std::string name;
      if (file == "_annotations.coco.json" && entry.parts.size() == 2) {
        name = entry.parts.front();
      } else if (file.starts_with("instances_") && file.ends_with(".json") &&
                 entry.parts.size() <= 2) {
        name = file.substr(10, file.size() - 15);
      } else {
        continue;
      }
      split(name).annotations = entry.index;
    }
    if (layout_.splits.empty()) return false;
    layout_.kind = LayoutKind::kCoco;
    return true;
  }

  // images/<split>/a.jpg with annotations/<split>/a.png (or labels/, masks/; or without splits), or
  // <split>/a.png with <split>annot/a.png.
  bool segmentation() {
    static const std::set<std::string> label_folders{"annotations", "labels", "masks"};
    std::map<std::string, std::size_t> maps;  // "<split>/<stem>" -> entry
    for (const Entry& entry : entries_) {
      if (entry.parts.size() < 2 || lower_extension(entry.file()) != "png") continue;
      std::string folder = entry.parts.front();
      if (label_folders.contains(folder)) {
        maps.emplace(key_of(entry, 1), entry.index);
      } else if (folder.ends_with("annot") && is_split_name(folder.substr(0, folder.size() - 5))) {
        maps.emplace(folder.substr(0, folder.size() - 5) + "/" + key_of(entry, 1), entry.index);
      }
    }
    if (maps.empty()) return false;
    for (const Entry& entry : entries_) {
      const bool in_images = entry.parts.front() == "images";
      if (entry.parts.size() < 2 || (!in_images && !is_split_name(entry.parts.front()))) continue;
      if (!picture(entry.index)) continue;
      const std::size_t skip = in_images ? 1 : 0;
      LayoutSplit& s = split(entry.parts.size() > skip + 1 ? entry.parts[skip] : "");
      const auto found = maps.find(key_of(entry, skip));
      s.pictures.push_back(entry.index);
      s.labels.push_back(found != maps.end() ? found->second : kNoEntry);
    }
    if (layout_.splits.empty()) return false;
    layout_.kind = LayoutKind::kSegmentation;
    for (const Entry& entry : entries_) layout_.ade20k |= entry.file() == "objectInfo150.txt";
    return true;
  }

  static std::string key_of(const Entry& entry, std::size_t skip) {
    const std::vector<std::string> folders(entry.parts.begin() + static_cast<std::ptrdiff_t>(skip),
                                           entry.parts.end() - 1);
    return fmt::format("{}{}{}", fmt::join(folders, "/"), folders.empty() ? "" : "/", entry.stem());
  }

  // train/<class>/..., val/<class>/..., or train/*.jpg. "train" is also a vehicle: where most of
  // the folders beside it are not splits, they all are classes.
  bool split_folders() {
    std::set<std::string> splits, others;
    for (const Entry& entry : entries_) {
      if (entry.parts.size() < 2) continue;
      (is_split_name(entry.parts.front()) ? splits : others).insert(entry.parts.front());
    }
    if (splits.empty() || others.size() > splits.size()) return false;
    add_pictures(1, splits);
    return !layout_.splits.empty();
  }

  bool class_folders() {
    std::set<std::string> folders;
    for (const Entry& entry : entries_) {
      if (!picture(entry.index)) continue;
      if (entry.parts.size() < 2) return false;
      folders.insert(entry.parts.front());
    }
    if (folders.size() < 2) return false;
    add_pictures(0, {});
    return true;
  }

  void flat() {
    for (const Entry& entry : entries_) {
      if (picture(entry.index)) split("").pictures.push_back(entry.index);
    }
    if (!layout_.splits.empty()) layout_.kind = LayoutKind::kPictures;
  }

  // Pictures whose class is the folder at `level`; a split all of whose pictures lie directly in
  // it, or in one folder that the other splits do not have (val/images/), has no classes.
  void add_pictures(std::size_t level, const std::set<std::string>& only) {
    layout_.kind = LayoutKind::kPictures;
    std::map<std::string, std::vector<std::pair<std::size_t, std::string>>> found;
    std::map<std::string, std::set<std::string>> folders;
    for (const Entry& entry : entries_) {
      if (!only.empty() && !only.contains(entry.parts.front())) continue;
      if (entry.parts.size() <= level || !picture(entry.index)) continue;
      const std::string name = level == 0 ? "" : entry.parts.front();
      const std::string folder = entry.parts.size() > level + 1 ? entry.parts[level] : "";
      found[name].emplace_back(entry.index, folder);
      if (!folder.empty()) folders[name].insert(folder);
    }
    std::set<std::string> classes;
    for (const auto& [name, list] : folders) {
      if (list.size() > 1 || folders.size() == 1) classes.insert(list.begin(), list.end());
    }
    if (classes.size() < 2) classes.clear();
    layout_.class_keys.assign(classes.begin(), classes.end());
    for (const auto& [name, pictures] : found) {
      LayoutSplit& s = split(name);
      bool any = false;
      for (const auto& [index, folder] : pictures) {
        const auto at =
            std::lower_bound(layout_.class_keys.begin(), layout_.class_keys.end(), folder);
        const bool known = at != layout_.class_keys.end() && *at == folder;
        s.pictures.push_back(index);
        s.classes.push_back(known ? static_cast<int>(at - layout_.class_keys.begin()) : -1);
        any = any || known;
      }
      if (!any) s.classes.clear();
    }
  }

  Layout finish() {
    sort_splits(layout_);
    layout_.class_names = layout_.class_keys;
    for (const Entry& entry : entries_) {
      if (entry.parts.size() == 1 && entry.file() == "classes.txt")
        layout_.classes_file = entry.index;
    }
    return std::move(layout_);
  }

  const PictureSource& source_;
  std::vector<signed char> picture_;  // -1: not yet known
  std::vector<Entry> entries_;
  Layout layout_;
};

constexpr std::size_t kMaxNumberedClasses = 100'000;

// Where all classes of a list or of shards are numbers they are class numbers as they stand, else
// names to be sorted.
std::vector<std::string> list_class_keys(const std::set<std::string>& classes) {
  std::vector<std::string> keys(classes.begin(), classes.end());
  std::size_t largest = 0;
  for (const std::string& key : keys) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc{} || end != key.data() + key.size()) return keys;
    largest = std::max(largest, number);
  }
  if (keys.empty() || largest >= kMaxNumberedClasses) return keys;
  keys.clear();
  for (std::size_t i = 0; i <= largest; ++i) keys.push_back(std::to_string(i));
  return keys;
}

Layout list_layout(const PictureSource& source) {
  const std::vector<std::string>& given = source.list_classes();
  std::set<std::string> classes(given.begin(), given.end());
  classes.erase("");
  Layout layout;
  layout.kind = source.kind() == SourceKind::kShards ? LayoutKind::kShards : LayoutKind::kList;
  layout.class_keys = layout.class_names = list_class_keys(classes);
  std::map<std::string, int> numbers;
  for (std::size_t i = 0; i < layout.class_keys.size(); ++i) {
    numbers[layout.class_keys[i]] = static_cast<int>(i);
  }
  const std::vector<std::string>& splits = source.list_splits();
  for (std::size_t i = 0; i < source.size(); ++i) {
    LayoutSplit& split = split_named(layout, splits.empty() ? "" : splits[i]);
    split.pictures.push_back(i);
    if (given.empty()) continue;
    const auto found = numbers.find(given[i]);
    split.classes.push_back(found != numbers.end() ? found->second : -1);
  }
  sort_splits(layout);
  return layout;
}

// "goldfish, Carassius auratus" -> "goldfish"
std::string first_synonym(const std::string& name) { return name.substr(0, name.find(',')); }

void name_classes(const PictureSource& source, Layout& layout) {
  const FileBytes bytes = source.read(layout.classes_file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size());
  std::map<std::string, std::string> names;
  for (const ClassLine& line : parse_class_lines(text)) {
    for (const std::string& key : line.keys) names[key] = first_synonym(line.name);
  }
  for (std::size_t i = 0; i < layout.class_keys.size(); ++i) {
    const auto found = names.find(layout.class_keys[i]);
    if (found != names.end() && !found->second.empty()) layout.class_names[i] = found->second;
  }
}

}  // namespace

Layout recognise_layout(const PictureSource& source) {
  if (source.kind() == SourceKind::kList || source.kind() == SourceKind::kShards) {
    return list_layout(source);
  }
  Layout layout = Recogniser(source).recognise();
  if (layout.classes_file != kNoEntry && layout.has_classes()) name_classes(source, layout);
  return layout;
}

}  // namespace addp
