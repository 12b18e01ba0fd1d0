#include "reproduce/plan/plan.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "base/file/sha256.h"

namespace addp {
namespace {

// Without the lines that only people read.
std::string without_comments(const std::string& toml) {
  std::istringstream lines(toml);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start != std::string::npos && line[start] != '#') kept += line + '\n';
  }
  return kept;
}

}  // namespace

std::string in_folder(const std::string& job) { return "\x1f" + job + "\x1f"; }
std::string in_out(const std::string& path) { return "\x1e/" + path; }

double units_of(const StudyJob& job) {
  const auto option = std::find(job.words.begin(), job.words.end(), job.length_option);
  if (job.length_option.empty() || option == job.words.end()) return 1;
  const std::string& text = *(option + 1);
  double units = 1;
  std::from_chars(text.data(), text.data() + text.size(), units);
  return units;
}

std::vector<std::string> Plan::needs(const StudyJob& job) const {
  std::vector<std::string> names;
  for (const std::string& word : job.words) {
    placed(word, "", [&](const std::string& name) {
      if (name != job.name && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
      return "";
    });
  }
  return names;
}

std::string Plan::add(StudyJob job) {
  if (const auto there = places_.find(job.name); there != places_.end()) {
    const StudyJob& same = jobs_[there->second];
    if (same.words != job.words) throw std::logic_error("two jobs are called " + job.name);
    return same.name;
  }
  std::string text;
  for (const std::string& word : job.words) {
    const auto outside = outside_.find(word);
    text += (outside == outside_.end() ? word : outside->second) + '\n';
  }
  for (const std::string& need : needs(job)) text += need + ' ' + keys_.at(need) + '\n';
  keys_[job.name] = sha256_hex(as_byte_span(text)).substr(0, 10);
  places_[job.name] = jobs_.size();
  jobs_.push_back(std::move(job));
  return jobs_.back().name;
}

const StudyJob& Plan::job(const std::string& name) const { return jobs_.at(places_.at(name)); }

std::string Plan::add_recipe(const std::string& stem, const std::string& toml) {
  return add_file(stem, ".toml", without_comments(toml));
}

std::string Plan::add_file(const std::string& stem, const std::string& ending,
                           const std::string& content) {
  const std::string path =
      "files/" + stem + "-" + sha256_hex(as_byte_span(content)).substr(0, 10) + ending;
  files_[path] = content;
  return in_out(path);
}

}  // namespace addp
