#include "server/routes/runs.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "base/file/file_io.h"

namespace addp {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kDeepest = 4;
constexpr std::size_t kMostRuns = 200;
constexpr std::int64_t kMostBytes = 1 << 20;  // of a log in one answer

// Bytes [from, from + most) of a file.
std::string read_part(const fs::path& path, std::int64_t from, std::int64_t most) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(from);
  std::string text(static_cast<std::size_t>(most), '\0');
  file.read(text.data(), most);
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

// The whole lines of a text that are JSON objects.
std::vector<json> objects_in(const std::string& text) {
  std::vector<json> objects;
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  for (std::string line; std::getline(lines, line);) {
    json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (value.is_object()) objects.push_back(std::move(value));
  }
  return objects;
}

// A number of config.toml.
double setting(const fs::path& run, const std::string& name) {
  std::ifstream file(run / "config.toml");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + " = ")) continue;
    return std::strtod(line.c_str() + name.size() + 3, nullptr);
  }
  return 0;
}

double seconds_since(const fs::path& path) {
  std::error_code error;
  const auto written = fs::last_write_time(path, error);
  if (error) return 0;
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - written).count();
}

// The newest of each kind: "samples-0000100.png" is one of "samples".
json newest_pictures(const fs::path& run) {
  std::map<std::string, std::string> newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run / "pictures", error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t dash = name.rfind('-');
    if (!name.ends_with(".png") || dash == std::string::npos) continue;
    std::string& known = newest[name.substr(0, dash)];
    known = std::max(known, name);
  }
  json names = json::array();
  for (const auto& [kind, name] : newest) names.push_back(name);
  return names;
}

json describe(const std::string& name, const fs::path& run) {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(run / "log.jsonl", error));
  const std::int64_t from = std::max<std::int64_t>(0, size - 16384);
  double step = 0, speed = 0;
  for (const json& line : objects_in(read_part(run / "log.jsonl", from, size - from))) {
    if (line.contains("step") && line["step"].is_number()) step = line["step"].get<double>();
    const auto rate = line.find("pictures_per_second");
    if (rate != line.end() && rate->is_number()) speed = rate->get<double>();
  }
  const double steps = setting(run, "steps"), batch = setting(run, "batch-size");
  const double left = std::max(0.0, steps - step);
  json out = {{"name", name},
              {"step", step},
              {"steps", steps},
              {"pictures_per_second", speed},
              {"seconds_since_update", seconds_since(run / "log.jsonl")},
              {"seconds_left", nullptr},
              {"pictures", newest_pictures(run)}};
  if (speed > 0 && batch > 0) out["seconds_left"] = left * batch / speed;
  return out;
}

}  // namespace

std::vector<RunFolder::Run> RunFolder::find_runs() const {
  std::vector<Run> runs;
  std::error_code error;
  if (root_.empty()) return runs;
  const auto is_run = [&](const fs::path& path) {
    return fs::is_regular_file(path / "log.jsonl", error);
  };
  if (is_run(root_))
    runs.push_back({fs::absolute(root_).lexically_normal().filename().string(), root_});
  auto entry =
      fs::recursive_directory_iterator(root_, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (runs.size() >= kMostRuns) break;
    if (!entry->is_directory(error)) continue;
    if (entry.depth() + 1 >= kDeepest) entry.disable_recursion_pending();
    if (!is_run(entry->path())) continue;
    runs.push_back({entry->path().lexically_relative(root_).generic_string(), entry->path()});
    entry.disable_recursion_pending();
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.name < b.name; });
  return runs;
}

std::optional<fs::path> RunFolder::find(const std::string& run) const {
  for (const Run& one : find_runs()) {
    if (one.name == run) return one.path;
  }
  return std::nullopt;
}

json RunFolder::list() const {
  std::vector<json> all;
  for (const Run& run : find_runs()) all.push_back(describe(run.name, run.path));
  std::stable_sort(all.begin(), all.end(), [](const json& a, const json& b) {
    return a["seconds_since_update"].get<double>() < b["seconds_since_update"].get<double>();
  });
  return all;
}

std::optional<json> RunFolder::log(const std::string& run, std::int64_t from) const {
  const auto folder = find(run);
  if (!folder) return std::nullopt;
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(*folder / "log.jsonl", error));
  json answer = {{"restarted", from > size || from < 0}};
  if (answer["restarted"].get<bool>()) from = 0;
  const std::string text =
      read_part(*folder / "log.jsonl", from, std::min(size - from, kMostBytes));
  answer["lines"] = objects_in(text);
  answer["next"] = from + static_cast<std::int64_t>(text.rfind('\n') + 1);
  answer["more"] = from + static_cast<std::int64_t>(text.size()) < size;
  return answer;
}

std::optional<std::string> RunFolder::picture(const std::string& run,
                                              const std::string& name) const {
  const auto folder = find(run);
  if (!folder) return std::nullopt;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(*folder / "pictures", error)) {
    if (entry.path().filename() != name || !name.ends_with(".png")) continue;
    return read_text_file(entry.path());
  }
  return std::nullopt;
}

}  // namespace addp
