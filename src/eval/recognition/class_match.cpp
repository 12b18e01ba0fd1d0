#include "eval/recognition/class_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file/file_io.h"
#include "data/set/layout.h"

namespace addp {
namespace {

void add_spellings(std::map<std::string, std::int64_t>& known,
                   const std::vector<std::string>& spellings) {
  for (std::size_t i = 0; i < spellings.size(); ++i) {
    known.emplace(spellings[i], static_cast<std::int64_t>(i));
  }
}

}  // namespace

std::string ModelClasses::name(std::int64_t index) const {
  const auto place = static_cast<std::size_t>(index);
  return place < names.size() ? names[place] : fmt::format("class {}", index);
}

void read_class_file(ModelClasses& classes, const std::filesystem::path& path) {
  const std::vector<ClassLine> lines = parse_class_lines(read_text_file(path));
  if (static_cast<std::int64_t>(lines.size()) != classes.count) {
    throw DataError("{}: names {} classes, the model has {}; give the list it was trained with",
                    path, lines.size(), classes.count);
  }
  classes.names.clear();
  classes.keys.clear();
  for (const ClassLine& line : lines) {
    classes.names.push_back(line.name);
    classes.keys.push_back(line.keys.empty() ? line.name : line.keys.front());
  }
}

std::vector<std::int64_t> match_classes(const ModelClasses& model, const Dataset& dataset) {
  const std::vector<std::string>& wanted = dataset.class_keys();
  std::vector<std::int64_t> matched;
  if (model.keys.empty()) {
    if (static_cast<std::int64_t>(wanted.size()) != model.count) {
      throw DataError(
          "{}: has {} classes, the model {}, and the model's file does not name them; give its "
          "list of classes with --classes",
          dataset.description(), wanted.size(), model.count);
    }
    for (std::int64_t i = 0; i < model.count; ++i) matched.push_back(i);
    return matched;
  }
  std::map<std::string, std::int64_t> known;
  add_spellings(known, model.keys);
  add_spellings(known, model.names);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto found = known.find(wanted[i]);
    if (found == known.end()) found = known.find(dataset.class_names()[i]);
    if (found == known.end()) {
      throw DataError("{}: its class '{}' is none of the model's {}; give data of those classes",
                      dataset.description(), wanted[i], model.count);
    }
    matched.push_back(found->second);
  }
  return matched;
}

}  // namespace addp
