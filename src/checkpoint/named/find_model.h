// Models by name. A set of models is a folder with a file per kind: "cells" has
// cells/addp.safetensors, cells/classifier.safetensors, ... and a card (model_card.h). Sets come
// with the program; the folders that ADDP_MODELS lists (colons between them) are searched first.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace addp {

// Where files that come with the program may lie: share/addp beside it.
std::vector<std::filesystem::path> share_folders();

// ADDP_MODELS's folders, then the program's own: share/addp/models beside it, which in a build tree
// is a link to the source's models/.
std::vector<std::filesystem::path> model_folders();

// The file of the model that `given` means: a file, a folder with a model.safetensors in it (what
// training writes), a set ("cells", or the path of one), or one model of a set
// ("cells/predictor"). Of a set, the first of `kinds` that it has; without kinds, the first of
// all. What exists as a path wins over a name, and earlier folders over later ones. A DataError
// says what there is instead.
std::filesystem::path find_model(const std::filesystem::path& given,
                                 std::initializer_list<std::string_view> kinds = {});
// Whether find_model() would give a file.
bool is_model(const std::filesystem::path& given, std::initializer_list<std::string_view> kinds);

struct NamedModel {
  std::string set, kind;  // "cells", "addp"
  std::filesystem::path file;

  std::string name() const { return set + "/" + kind; }
};

// Every model that has a name, by set and kind; `wanted` ("cells", "cells/addp") narrows it down.
std::vector<NamedModel> named_models(const std::string& wanted = {});

}  // namespace addp
