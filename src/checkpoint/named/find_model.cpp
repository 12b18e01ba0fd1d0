#include "checkpoint/named/find_model.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file/cache.h"
#include "checkpoint/model_kind.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRunFile = "model.safetensors";
constexpr const char* kEnding = ".safetensors";

using Kinds = std::vector<std::string_view>;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The library that holds this code, which `make install` puts beside the program's share/.
fs::path library_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&model_folders), &info) == 0) return {};
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path();
}

fs::path with_ending(fs::path path) { return path += kEnding; }

// The model at a path; empty where there is none.
fs::path model_at(const fs::path& path, const Kinds& kinds) {
  if (is_file(path)) return path;
  if (!is_folder(path)) return {};
  if (is_file(path / kRunFile)) return path / kRunFile;
  for (const std::string_view kind : kinds) {
    fs::path file = with_ending(path / kind);
    if (is_file(file)) return file;
  }
  return {};
}

// "cells" or "cells/predictor": nothing that leads out of a folder of sets.
bool is_name(const fs::path& given) {
  return !given.empty() && given.is_relative() &&
         std::none_of(given.begin(), given.end(),
                      [](const fs::path& part) { return part == ".." || part == "."; });
}

// A folder of pictures may be called like a set, so that a path counts as a model only where one
// is in there.
fs::path search(const fs::path& given, const Kinds& kinds) {
  fs::path found = model_at(given, kinds);
  if (!found.empty() || !is_name(given)) return found;
  for (const fs::path& folder : model_folders()) {
    found = model_at(folder / given, kinds);
    if (found.empty() && is_file(with_ending(folder / given))) found = with_ending(folder / given);
    if (!found.empty()) return found;
  }
  return {};
}

[[noreturn]] void complain(const fs::path& given, const Kinds& kinds) {
  std::vector<std::string> others;
  for (const NamedModel& model : named_models(given.string())) others.push_back(model.name());
  if (!others.empty() && is_name(given)) {
    throw DataError("{}: has no {}; of that name there are {}", given, fmt::join(kinds, " or "),
                    fmt::join(others, ", "));
  }
  if (is_folder(given)) {
    throw DataError("{}: has no {} in it; give a folder that training wrote, or a model file",
                    given, kRunFile);
  }
  throw DataError(
      "{}: there is no such file and no model of that name; 'addp models' lists those "
      "that have names",
      given);
}

// No kinds: all there are.
Kinds kinds_of(std::initializer_list<std::string_view> wanted) {
  if (wanted.size() > 0) return wanted;
  Kinds all;
  for (const KindOfModel& kind : model_kinds()) all.push_back(kind.name);
  return all;
}

}  // namespace

std::vector<fs::path> share_folders() {
  const fs::path here = library_folder();
  return {here / "share" / "addp", here.parent_path() / "share" / "addp"};
}

std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  std::istringstream listed(environment_path("ADDP_MODELS").string());
  for (std::string folder; std::getline(listed, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const fs::path& share : share_folders()) folders.push_back(share / "models");
  return folders;
}

fs::path find_model(const fs::path& given, std::initializer_list<std::string_view> kinds) {
  fs::path found = search(given, kinds_of(kinds));
  if (found.empty()) complain(given, kinds_of(kinds));
  return found;
}

bool is_model(const fs::path& given, std::initializer_list<std::string_view> kinds) {
  return !search(given, kinds_of(kinds)).empty();
}

std::vector<NamedModel> named_models(const std::string& wanted) {
  std::map<std::string, NamedModel> found;
  for (const fs::path& folder : model_folders()) {
    std::error_code ignored;  // a folder that cannot be listed has no models for us
    for (const auto& set : fs::directory_iterator(folder, ignored)) {
      for (const auto& entry : fs::directory_iterator(set, ignored)) {
        if (entry.path().extension() != kEnding || entry.path().filename() == kRunFile) continue;
        NamedModel model{set.path().filename(), entry.path().stem(), entry.path()};
        const bool asked = wanted.empty() || wanted == model.set || wanted == model.name();
        if (asked) found.try_emplace(model.name(), std::move(model));
      }
    }
  }
  std::vector<NamedModel> models;
  for (auto& [name, model] : found) models.push_back(std::move(model));
  const auto rank = [](const NamedModel& model) {
    const auto kinds = model_kinds();
    return std::ranges::find(kinds, model.kind, &KindOfModel::name) - kinds.begin();
  };
  std::stable_sort(models.begin(), models.end(), [&](const NamedModel& a, const NamedModel& b) {
    return a.set != b.set ? a.set < b.set : rank(a) < rank(b);
  });
  return models;
}

}  // namespace addp
