#include "reproduce/run/workplace.h"

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "base/version.h"

namespace addp {
namespace fs = std::filesystem;

fs::path Workplace::folder(const std::string& job) const {
  return out_ / "jobs" / (job + "-" + plan_.key(job));
}

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
  if (!fs::exists(path)) return {};
  const auto json = nlohmann::json::parse(read_text_file(path), nullptr, /*exceptions=*/false);
  if (!json.is_object() || !json.contains("printed")) {
    throw DataError("{}: is not what a job leaves; delete it to run the job again", path);
  }
  return JobResult{json["printed"], json.value("seconds", 0.0), json.value("core_seconds", 0.0)};
}

void Workplace::write_result(const StudyJob& job, const JobResult& result) const {
  const nlohmann::json json = {{"job", job.name},
                               {"call", words(job)},
                               {"program", version()},
                               {"seconds", result.seconds},
                               {"core_seconds", result.core_seconds},
                               {"printed", result.printed}};
  write_file_atomically(folder(job.name) / "result.json", json_text(json, 2) + "\n");
}

void Workplace::write_files() const {
  for (const auto& [path, content] : plan_.files()) {
    if (fs::exists(out_ / path)) continue;
    make_folder_for(out_ / path);
    write_file_atomically(out_ / path, content);
  }
}

}  // namespace addp
