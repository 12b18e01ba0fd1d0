#include "train/run_state.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/option/toml_settings.h"
#include "base/version.h"
#include "checkpoint/format/checksum.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/format/tensor_cast.h"

namespace addp {
namespace {

namespace fs = std::filesystem;
using Fields = std::map<std::string, std::string>;

std::string field(const Fields& fields, const std::string& name) {
  const auto it = fields.find("addp." + name);
  return it == fields.end() ? std::string() : it->second;
}

template <class Number>
Number number_field(const Fields& fields, const std::string& name, const fs::path& path) {
  const std::string text = field(fields, name);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw DataError("{}: its '{}' is '{}', not a number; it is damaged", path, name, text);
  }
  return value;
}

std::string evaluation_text(const Metrics& metrics) {
  nlohmann::json figures = nlohmann::json::object();
  for (const auto& [name, value] : metrics) figures[name] = value;
  return json_text(figures);
}

Metrics parse_evaluation(const std::string& text) {
  Metrics metrics;
  const auto figures = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!figures.is_object()) return metrics;
  for (const auto& [name, value] : figures.items()) {  // what is not finite was written as null
    metrics[name] =
        value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  }
  return metrics;
}

RunFiles::Saved read_state(const fs::path& path) {
  Safetensors file = read_safetensors(path);
  const Fields& fields = file.metadata;
  RunFiles::Saved saved{.path = path, .state = {}, .tensors = std::move(file.tensors)};
  saved.state.stage = field(fields, "stage");
  saved.state.step = number_field<std::int64_t>(fields, "step", path);
  if (saved.state.step < 0) throw DataError("{}: has a negative step; it is damaged", path);
  if (!field(fields, "best").empty()) {
    saved.state.best = number_field<double>(fields, "best", path);
  }
  if (!field(fields, "evaluated").empty()) {
    saved.state.evaluated = number_field<std::int64_t>(fields, "evaluated", path);
    saved.state.evaluation = parse_evaluation(field(fields, "evaluation"));
  }
  saved.state.configuration = field(fields, "configuration");
  saved.state.arithmetic = field(fields, "arithmetic");
  const std::string sum = field(fields, "checksum");
  if (!sum.empty() && sum != std::to_string(checksum_of(saved.tensors))) {
    throw DataError("{}: its numbers are not those that were written; it is damaged", path);
  }
  return saved;
}

void require_finite(const TensorMap& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (count_non_finite(tensor) == 0) continue;
    throw NonFiniteError("the numbers of '{}' are not finite", name);
  }
}

}  // namespace

std::optional<RunFiles::Saved> RunFiles::load(const std::string& stage) {
  std::optional<Saved> saved;
  std::optional<DataError> damage;
  for (const fs::path& path : {last(), previous()}) {
    if (!fs::exists(path)) continue;
    try {
      saved = read_state(path);
    } catch (const DataError& error) {
      if (!damage) damage = error;
      continue;
    }
    last_is_whole_ = path == last();
    break;
  }
  if (!saved && damage) {
    throw DataError("{}; delete it or give --no-resume to start anew", damage->what());
  }
  if (!saved) return saved;
  if (damage) warn("{}; the run goes on from {}, the state before it", damage->what(), saved->path);
  if (saved->state.stage != stage) {
    throw DataError(
        "{}: holds a run of '{}', not of '{}'; choose another --out or give --no-resume",
        saved->path, saved->state.stage, stage);
  }
  return saved;
}

// A second name for the file that is about to be replaced, so that there is a whole one at any
// moment. Where the file system knows no second names, there is none to fall back to.
void RunFiles::keep_previous() const {
  std::error_code error;
  const fs::path name = folder_ / "previous.safetensors.new";
  fs::remove(name, error);
  fs::create_hard_link(last(), name, error);
  if (error) return;
  fs::rename(name, previous(), error);
  fs::remove(name, error);
}

void RunFiles::save(const RunState& state, const TensorMap& tensors) {
  require_finite(tensors);
  Fields fields = {{"addp.kind", "training-state"},
                   {"addp.stage", state.stage},
                   {"addp.version", std::string(version())},
                   {"addp.step", std::to_string(state.step)},
                   {"addp.configuration", state.configuration},
                   {"addp.arithmetic", state.arithmetic},
                   {"addp.checksum", std::to_string(checksum_of(tensors))}};
  if (state.best) fields["addp.best"] = fmt::format("{}", *state.best);
  if (state.evaluated >= 0) {
    fields["addp.evaluated"] = std::to_string(state.evaluated);
    fields["addp.evaluation"] = evaluation_text(state.evaluation);
  }
  if (last_is_whole_) keep_previous();
  write_safetensors(last(), tensors, fields);
  last_is_whole_ = true;
}

void RunFiles::forget() {
  std::error_code ignored;
  fs::remove(previous(), ignored);
}

void warn_of_changes(const std::string& before, const std::string& now, const std::string& source) {
  // These may change between a run and its resumption without changing the result.
  static const std::set<std::string> kHarmless = {
      "steps",      "out",        "threads",    "workers",   "processes",
      "device",     "save-every", "keep-every", "log-every", "picture-every",
      "eval-every", "resume",     "config",     "json",      "quiet"};
  const auto old_settings = toml_settings(before, source);
  for (const auto& [name, value] : toml_settings(now, "the options")) {
    const auto old = old_settings.find(name);
    if (old == old_settings.end() || old->second == value || kHarmless.contains(name)) continue;
    warn("resuming with '{} = {}' where the run had '{}'", name, value, old->second);
  }
}

}  // namespace addp
