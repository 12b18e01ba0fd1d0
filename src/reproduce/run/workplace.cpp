#include "reproduce/run/workplace.h"

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "base/version.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

// Nothing where that is not what a job leaves.
std::optional<JobResult> read_result(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("printed")) return {};
  return JobResult{json["printed"], json.value("seconds", 0.0), json.value("core_seconds", 0.0)};
}

nlohmann::json to_json(const JobResult& result) {
  return {{"seconds", result.seconds},
          {"core_seconds", result.core_seconds},
          {"printed", result.printed}};
}

// Figures only: where files lay says nothing elsewhere.
nlohmann::json without_paths(const nlohmann::json& printed) {
  if (!printed.is_object()) return printed;
  nlohmann::json kept = nlohmann::json::object();
  for (const auto& [name, value] : printed.items()) {
    if (value.is_string() && fs::path(value.get<std::string>()).is_absolute()) continue;
    if (name == "protocol") continue;  // names the sets by where they lay
    kept[name] = value;
  }
  return kept;
}

}  // namespace

fs::path Workplace::folder(const std::string& job) const { return out_ / "jobs" / place(job); }

std::vector<std::string> Workplace::words(const StudyJob& job) const {
  std::vector<std::string> words;
  for (const std::string& word : job.words) {
    words.push_back(placed(word, out_.string(),
                           [&](const std::string& name) { return folder(name).string(); }));
  }
  return words;
}

bool Workplace::done(const std::string& job) const {
  return fs::exists(folder(job) / "result.json");
}

std::optional<JobResult> Workplace::result(const std::string& job) const {
  const fs::path path = folder(job) / "result.json";
  if (fs::exists(path)) {
    const auto json = nlohmann::json::parse(read_text_file(path), nullptr, /*exceptions=*/false);
    const auto left = read_result(json);
    if (left) return left;
    throw DataError("{}: is not what a job leaves; delete it to run the job again", path);
  }
  const auto found = earlier_.find(place(job));
  return found == earlier_.end() ? std::nullopt : std::optional(found->second);
}

void Workplace::write_result(const StudyJob& job, const JobResult& result) const {
  nlohmann::json json = to_json(result);
  json["job"] = job.name;
  json["call"] = words(job);
  json["program"] = version();
  write_file_atomically(folder(job.name) / "result.json", json_text(json, 2) + "\n");
}

void Workplace::add_earlier(const fs::path& file) {
  const auto json = nlohmann::json::parse(read_text_file(file), nullptr, /*exceptions=*/false);
  if (!json.is_object()) {
    throw DataError("{}: is not a results.json of 'addp reproduce'", file);
  }
  for (const auto& [place, item] : json.items()) {
    const auto result = read_result(item);
    if (!result) throw DataError("{}: '{}' is not a result of 'addp reproduce'", file, place);
    earlier_.emplace(place, *result);
  }
}

void Workplace::write_results(const std::set<std::string>& left_out) const {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [place, result] : earlier_) all[place] = to_json(result);
  for (const StudyJob& job : plan_.jobs()) {
    if (left_out.contains(job.name)) continue;
    if (auto one = result(job.name)) {
      one->printed = without_paths(one->printed);
      all[place(job.name)] = to_json(*one);
    }
  }
  write_file_atomically(out_ / "results.json", json_text(all, 1) + "\n");
}

std::set<std::string> Workplace::to_do() const {
  std::set<std::string> names;
  const auto& jobs = plan_.jobs();
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {  // needs come before in the plan
    if (!names.contains(job->name) && result(job->name)) continue;
    names.insert(job->name);
    for (const std::string& need : plan_.needs(*job)) {
      if (!done(need)) names.insert(need);
    }
  }
  return names;
}

void Workplace::write_files() const {
  for (const auto& [path, content] : plan_.files()) {
    if (fs::exists(out_ / path)) continue;
    make_folder_for(out_ / path);
    write_file_atomically(out_ / path, content);
  }
}

}  // namespace addp
