#include "checkpoint/layout/recognise.h"

#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/layout/key_report.h"
#include "checkpoint/layout/recognise_kinds.h"
#include "checkpoint/model_kind.h"

namespace addp {
namespace {

using Json = nlohmann::json;

bool is_parameter(const std::string& name, const TensorView& tensor) {
  return is_floating(tensor.dtype) && !name.ends_with("running_mean") &&
         !name.ends_with("running_var");
}

// A value that ought to be JSON text.
Json parse_field(const Checkpoint& checkpoint, std::string_view key) {
  const auto field = checkpoint.metadata.find(std::string(key));
  if (field == checkpoint.metadata.end()) return Json::object();
  // The text is foreign: nesting is bounded so that nothing that walks it later runs out of stack.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > 64) throw DataError("too deep");
    return true;
  };
  try {
    Json value = Json::parse(field->get<std::string>(), shallow);
    if (value.is_object()) return value;
  } catch (const std::exception&) {
  }
  throw DataError("{}: its metadata '{}' is not a JSON object; convert the original file again",
                  checkpoint.path, key);
}

std::string text_or(const Json& object, const char* key, const std::string& otherwise) {
  const auto field = object.find(key);
  return field != object.end() && field->is_string() ? field->get<std::string>() : otherwise;
}

Json object_or_empty(const Json& object, const char* key) {
  const auto field = object.find(key);
  return field != object.end() && field->is_object() ? *field : Json::object();
}

void count_tensors(const Checkpoint& checkpoint, bool non_finite, Recognition& result) {
  result.tensors = checkpoint.tensors.size();
  for (const auto& [name, tensor] : checkpoint.tensors) {
    ++result.dtypes[std::string(dtype_name(tensor.dtype))];
    if (is_parameter(name, tensor)) {
      const auto count = static_cast<std::uint64_t>(tensor.numel());
      result.parameters += count;
      result.parts[name.substr(0, name.find('.'))] += count;
    }
    if (!non_finite) continue;
    if (const std::uint64_t bad = count_non_finite(tensor); bad > 0) result.non_finite[name] = bad;
  }
}

// Of a file that says what it is and does not look like it.
KindFinding finding_by_word(const std::string& word) {
  const auto kind = model_kind(word);
  const std::string title = kind ? std::string(about(*kind).title) : word;
  return {.kind = word,
          .title = title + " (as the file says)",
          .details = Json::object(),
          .uses = kind ? about(*kind).uses : std::vector<std::string>(),
          .unused = {}};
}

}  // namespace

std::optional<OwnMetadata> own_metadata(const Checkpoint& checkpoint) {
  const Json& metadata = checkpoint.metadata;
  OwnMetadata own;
  if (const auto entry = metadata.find("addp"); entry != metadata.end() && entry->is_object()) {
    own.kind = text_or(*entry, "kind", "");
    own.version = text_or(*entry, "version", "");
    own.config = object_or_empty(*entry, "config");
    own.provenance = object_or_empty(*entry, "provenance");
  } else {
    own.kind = text_or(metadata, kKindKey.data(), "");
    own.version = text_or(metadata, kVersionKey.data(), "");
    if (own.kind.empty()) return std::nullopt;
    own.config = parse_field(checkpoint, kConfigKey);
    own.provenance = parse_field(checkpoint, kProvenanceKey);
  }
  if (own.kind.empty()) return std::nullopt;
  return own;
}

std::map<std::string, std::string> to_safetensors_metadata(const OwnMetadata& own) {
  return {{std::string(kKindKey), own.kind},
          {std::string(kVersionKey), own.version},
          {std::string(kConfigKey), json_text(own.config)},
          {std::string(kProvenanceKey), json_text(own.provenance)}};
}

Recognition recognise(const Checkpoint& checkpoint, const RecogniseOptions& options) {
  KindFinding finding = find_kind(checkpoint.tensors);
  Recognition result;
  if (const auto own = own_metadata(checkpoint)) {
    if (own->kind != finding.kind) {
      finding = finding_by_word(own->kind);
    }
    finding.details.update(own->config);
  }
  result.kind = std::move(finding.kind);
  result.title = std::move(finding.title);
  result.details = std::move(finding.details);
  result.uses = std::move(finding.uses);
  std::error_code ignored;
  const auto size = std::filesystem::file_size(checkpoint.path, ignored);
  result.file_bytes = ignored ? 0 : size;
  count_tensors(checkpoint, options.count_non_finite, result);
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (matches_any(name, finding.unused)) result.unused.push_back(name);
  }
  return result;
}

Json Recognition::to_json() const {
  return {{"kind", kind},
          {"title", title},
          {"details", details},
          {"uses", uses},
          {"file_bytes", file_bytes},
          {"tensors", tensors},
          {"parameters", parameters},
          {"parts", parts},
          {"dtypes", dtypes},
          {"unused", unused},
          {"non_finite", non_finite}};
}

}  // namespace addp
