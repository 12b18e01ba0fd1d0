#include "commands/files/doctor.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/named/find_model.h"
#include "commands/library/run_in_library.h"
#include "data/inspect/inspect.h"
#include "data/shapes/shapes.h"
#include "data/source/picture_source.h"
#include "report/table.h"

namespace addp {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kShownPath = 300;  // letters of a path that is not there

// What was found at one path. `problem` is empty where it can be used.
struct Finding {
  json result;
  std::string text, problem;
};

bool is_checkpoint_name(const std::string& extension) {
  return extension == "safetensors" || extension == "pth" || extension == "pt" ||
         extension == "ckpt" || extension == "bin";
}

// A folder that a training command wrote is a model, not a data set.
bool is_checkpoint(const std::string& path) {
  std::error_code error;
  return !is_shapes_spec(path) && (is_checkpoint_name(lower_extension(path)) ||
                                   fs::exists(fs::path(path) / "model.safetensors", error));
}

std::string checkpoint_text(const std::string& path, const Recognition& found) {
  Table table{fmt::format("{}: {}", path, found.title), {"part", "parameters"}, {}};
  for (const auto& [part, count] : found.parts) table.rows.push_back({part, format_count(count)});
  table.rows.push_back({"all", format_count(found.parameters)});
  std::string text = table.to_text();
  text += fmt::format("file: {} in {} tensors\n", format_bytes(found.file_bytes), found.tensors);
  for (const auto& [type, count] : found.dtypes)
    text += fmt::format("type: {} x {}\n", type, count);
  for (const auto& [name, value] : found.details.items())
    text += fmt::format("{}: {}\n", name, json_text(value));
  for (const auto& name : found.unused) text += fmt::format("unused: {}\n", name);
  for (const auto& [name, count] : found.non_finite) {
    text += fmt::format("not finite: {} values of {}\n", count, name);
  }
  for (const auto& use : found.uses) text += fmt::format("use: {}\n", use);
  return text;
}

// Loads it as the commands that use it do. A file without a word of ours is taken for what it looks
// like only where its own program does the same.
void require_loadable(const fs::path& file, const Checkpoint& checkpoint, const Recognition& found,
                      const RunContext& context) {
  const bool ours = own_metadata(checkpoint).has_value();
  if (ours || found.kind == "classifier")
    run_in_library(CheckModelOptions{file, found.kind}, context);
}

Finding inspect_checkpoint(const std::string& path, const RunContext& context) {
  const fs::path file = find_model(path);
  const Checkpoint checkpoint = open_checkpoint(file);
  const Recognition found = recognise(checkpoint);
  Finding finding{found.to_json(), checkpoint_text(file.string(), found), {}};
  if (!found.non_finite.empty()) {
    finding.problem =
        fmt::format("{}: {} tensors hold NaN or infinite values; take another checkpoint", file,
                    found.non_finite.size());
    return finding;
  }
  try {
    require_loadable(file, checkpoint, found, context);
  } catch (const DataError& error) {
    finding.result["error"] = error.what();
    finding.problem = error.what();
  }
  return finding;
}

Finding inspect_data(const std::string& path, const DoctorOptions& options) {
  InspectOptions inspect;
  inspect.threads = static_cast<int>(options.threads);
  const DatasetReport report = inspect_dataset(path, inspect);
  const auto list = static_cast<std::size_t>(options.list);
  Finding finding{report_to_json(report, list), report_to_text(report, list), {}};
  finding.result["kind"] = "dataset";
  if (!report.usable()) {
    finding.problem = fmt::format("{}: cannot be trained on: {} pictures, {} of them broken", path,
                                  report.pictures, report.broken.size());
  }
  return finding;
}

Finding inspect(const std::string& path, const DoctorOptions& options, const RunContext& context) {
  try {
    std::error_code error;
    if (!is_shapes_spec(path) && !is_shard_pattern(path) && !fs::exists(path, error)) {
      throw DataError("{}: {}", path.substr(0, kShownPath),
                      error ? error.message() : "there is no such file or folder");
    }
    return is_checkpoint(path) ? inspect_checkpoint(path, context) : inspect_data(path, options);
  } catch (const DataError& error) {
    return {json{{"kind", "unusable"}, {"error", error.what()}}, "", error.what()};
  }
}

// A set of models by its name is all of its files.
std::vector<std::string> with_names_resolved(const std::vector<std::string>& given) {
  std::vector<std::string> paths;
  for (const std::string& path : given) {
    std::error_code ignored;
    const auto models = fs::exists(path, ignored) ? std::vector<NamedModel>() : named_models(path);
    for (const NamedModel& model : models) paths.push_back(model.file.string());
    if (models.empty()) paths.push_back(path);
  }
  return paths;
}

}  // namespace

void run(const DoctorOptions& options, const RunContext& context) {
  if (!options.preset.empty()) {
    run_in_library(PresetReportOptions{options.preset}, context);
    if (options.paths.empty()) return;
  }
  if (options.paths.empty()) {
    throw UsageError("doctor needs to know what to look at: a file, a folder, or --preset NAME");
  }
  json all = json::array();
  std::vector<std::string> problems;
  for (const auto& path : with_names_resolved(options.paths)) {
    Finding finding = inspect(path, options, context);
    finding.result["path"] = path;
    all.push_back(finding.result);
    if (!context.json && !finding.text.empty()) print_stdout(finding.text + "\n");
    if (!finding.problem.empty()) problems.push_back(finding.problem);
  }
  // One path gives one object, so that `jq .kind` works; several give a list.
  if (context.json) print_stdout(json_text(all.size() == 1 ? all[0] : all, 2) + "\n");
  if (problems.empty()) return;
  finish_stdout();
  std::string message = problems.front();
  if (problems.size() > 1) message += fmt::format(" (and {} more)", problems.size() - 1);
  throw DataError("{}", message);
}

}  // namespace addp
