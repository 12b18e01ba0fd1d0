#include "checkpoint/layout/convert.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/layout/shared_tokenizer.h"
#include "checkpoint/pickle/pickle.h"
#include "checkpoint/pickle/torch_writer.h"

namespace addp {
namespace {

using Json = nlohmann::json;

bool is_summary(const Json& value) { return value.is_object() && value.contains("tensors"); }

// Of an absolute path its last name; other words as they are.
std::string_view last_name(std::string_view path) {
  if (!path.starts_with('/')) return path;
  path = path.substr(0, path.find_last_not_of('/') + 1);
  return path.substr(path.find_last_of('/') + 1);
}

// The same for every word of a command.
std::string without_folders(std::string_view command) {
  std::string kept;
  while (!command.empty()) {
    const std::size_t word = std::min(command.find_first_of(" \t\n\"'=,"), command.size());
    kept += last_name(command.substr(0, word));
    kept += command.substr(word, 1);
    command.remove_prefix(std::min(word + 1, command.size()));
  }
  return kept;
}

void leave_out_folders(Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    value = text.starts_with('/') ? std::string(last_name(text)) : without_folders(text);
  }
  if (!value.is_structured()) return;
  for (auto& inner : value) leave_out_folders(inner);
}

// What the new file says about itself: what the old one said, or what its shapes tell. A file of
// ours names the folders of the machine that trained it; a converted one is made to be given away,
// and they are nobody else's business.
OwnMetadata describe(const Checkpoint& checkpoint, const ConversionOptions& options) {
  if (auto own = own_metadata(checkpoint)) {
    if (!own->provenance.contains("converted_from")) leave_out_folders(own->provenance);
    return *own;
  }
  const Recognition found = recognise(checkpoint, {.count_non_finite = false});
  OwnMetadata own;
  own.kind = found.kind;
  own.version = options.version;
  own.config = found.details;
  own.provenance = {{"converted_from", clean_utf8(checkpoint.path.filename().string())},
                    {"format", checkpoint.format},
                    {"root", checkpoint.root},
                    {"metadata", checkpoint.metadata}};
  return own;
}

std::uint64_t count_overflow(const TensorMap& tensors, std::optional<DType> type) {
  std::uint64_t count = 0;
  if (!type) return count;
  for (const auto& [name, tensor] : tensors) {
    if (!is_floating(tensor.dtype) || tensor.dtype == *type) continue;
    count += count_non_finite(cast_floating(tensor, *type)) - count_non_finite(tensor);
  }
  return count;
}

void write_published(const Checkpoint& checkpoint, const OwnMetadata& own,
                     const std::filesystem::path& out, const ConversionOptions& options) {
  Json extra = own.provenance.value("metadata", Json::object());
  if (!extra.is_object()) extra = Json::object();
  for (const char* root : {"model", "state_dict"}) extra.erase(root);
  for (auto item = extra.begin(); item != extra.end();) {
    item = is_summary(*item) ? extra.erase(item) : std::next(item);
  }
  extra["addp"] = {{"kind", own.kind},
                   {"version", own.version},
                   {"config", own.config},
                   {"provenance", own.provenance}};
  const std::string root = own.kind == "tokenizer" ? "state_dict" : "model";
  write_torch_file(out, checkpoint.tensors, root, extra, options.floating);
}

}  // namespace

ConvertReport convert_checkpoint(const std::filesystem::path& in, const std::filesystem::path& out,
                                 const ConversionOptions& options) {
  if (options.floating && !is_floating(*options.floating)) {
    throw UsageError("checkpoints are converted to F32, F16 or BF16, not to {}",
                     dtype_name(*options.floating));
  }
  const std::string ending = out.extension().string();
  const bool published = ending == ".pth" || ending == ".pt" || ending == ".ckpt";
  if (!published && ending != ".safetensors") {
    throw UsageError(
        "{}: end the name in .safetensors for our format, "
        "or in .pth or .ckpt for the published one",
        out);
  }
  if (published && options.share_tokenizer) {
    throw UsageError("{}: only files of our own format share a tokenizer; end in .safetensors",
                     out);
  }
  Checkpoint checkpoint = open_checkpoint(in);
  OwnMetadata own = describe(checkpoint, options);
  if (options.share_tokenizer) {
    share_tokenizer(checkpoint.tensors, own, out.parent_path(), options.floating);
  }
  ConvertReport report;
  report.kind = own.kind;
  report.tensors = checkpoint.tensors.size();
  report.bytes_in = std::filesystem::file_size(in);
  for (const auto& [key, value] : checkpoint.metadata.items()) {
    if (is_summary(value)) report.dropped.push_back(key);
  }
  report.overflowed = count_overflow(checkpoint.tensors, options.floating);
  if (published) {
    write_published(checkpoint, own, out, options);
  } else {
    auto metadata = to_safetensors_metadata(own);
    if (checkpoint.format == "safetensors") {
      for (const auto& [key, value] : checkpoint.metadata.items()) {
        metadata.emplace(key, value.get<std::string>());
      }
    }
    write_safetensors(out, checkpoint.tensors, metadata, options.floating);
  }
  report.bytes_out = std::filesystem::file_size(out);
  return report;
}

}  // namespace addp
