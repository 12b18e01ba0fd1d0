#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "base/name_of.h"
#include "data/set/layout.h"

namespace addp {

const char* layout_name(LayoutKind kind) {
  static constexpr Named<LayoutKind> kNames[] = {
      {LayoutKind::kEmpty, "nothing"},    {LayoutKind::kPictures, "image folder"},
      {LayoutKind::kList, "file list"},   {LayoutKind::kShards, "shards"},
      {LayoutKind::kCoco, "COCO"},        {LayoutKind::kSegmentation, "segmentation"},
      {LayoutKind::kCifar10, "CIFAR-10"}, {LayoutKind::kCifar100, "CIFAR-100"}};
  return name_of(kNames, kind);
}

std::string Layout::describe() const {
  std::string text = layout_name(kind);
  if (kind == LayoutKind::kPictures || kind == LayoutKind::kList || kind == LayoutKind::kShards) {
    text += has_classes() ? fmt::format(" with {} classes", class_keys.size()) : " without classes";
  }
  std::vector<std::string> names;
  for (const LayoutSplit& split : splits) {
    if (!split.name.empty()) names.push_back(split.name);
  }
  if (!names.empty()) text += fmt::format("; splits {}", fmt::join(names, ", "));
  return text;
}

std::string canonical_split(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  while (!text.empty() && (std::isdigit(static_cast<unsigned char>(text.back())) != 0 ||
                           text.back() == '_' || text.back() == '-')) {
    text.pop_back();
  }
  if (text == "training") return "train";
  if (text == "valid" || text == "validation" || text == "minival") return "val";
  if (text == "testing") return "test";
  return text;
}

std::vector<ClassLine> parse_class_lines(std::string_view text) {
  std::vector<ClassLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    ClassLine entry;
    for (std::size_t tab; (tab = line.find('\t')) != std::string_view::npos;) {
      entry.keys.emplace_back(line.substr(0, tab));
      line.remove_prefix(tab + 1);
    }
    entry.name = line;
    lines.push_back(std::move(entry));
  }
  return lines;
}

}  // namespace addp
