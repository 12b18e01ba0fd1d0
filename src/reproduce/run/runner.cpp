#include "reproduce/run/runner.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "reproduce/run/child.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{20};

struct Running {
  const StudyJob* job;
  Child child;
  Clock::time_point start;
};

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// The last line: errors stand there.
std::string last_words(const fs::path& log) {
  std::string last;
  std::string text = fs::exists(log) ? read_text_file(log) : std::string();
  std::replace(text.begin(), text.end(), '\r', '\n');
  for (std::size_t at = 0; at < text.size();) {
    const std::string line = first_line(std::string_view(text).substr(at));
    at = std::min(text.size(), text.find('\n', at)) + 1;
    if (!line.empty()) last = line;
  }
  return last;
}

class Runner {
 public:
  Runner(const Workplace& workplace, const RunnerOptions& options, const ToldOfJob& told)
      : workplace_(workplace), options_(options), told_(told) {
    const std::set<std::string> to_do = workplace.to_do();
    for (const StudyJob& job : workplace.plan().jobs()) {
      if (to_do.contains(job.name)) {
        waiting_.push_back(&job);
      } else {
        done_.insert(job.name);
      }
    }
  }

  RunnerReport run() {
    workplace_.write_files();
    const UnsavedWork until_children_end;
    while (!waiting_.empty() || !running_.empty()) {
      if (interrupt_requested()) stop();
      start_ready();
      if (running_.empty()) break;  // what still waits needs what has failed
      collect();
      std::this_thread::sleep_for(kPause);
    }
    for (const StudyJob* job : waiting_) report_.left.push_back(job->name);
    return report_;
  }

 private:
  bool ready(const StudyJob& job) const {
    const auto needs = workplace_.plan().needs(job);
    return std::all_of(needs.begin(), needs.end(),
                       [&](const std::string& need) { return done_.contains(need); });
  }

  void start_ready() {
    for (auto job = waiting_.begin();
         job != waiting_.end() && static_cast<std::int64_t>(running_.size()) < options_.jobs;) {
      if (ready(**job)) {
        start(**job);
        job = waiting_.erase(job);
      } else {
        ++job;
      }
    }
  }

  void start(const StudyJob& job) {
    const fs::path folder = workplace_.folder(job.name);
    make_folder(folder);
    std::vector<std::string> words;
    if (job.training) append(words, options_.launcher);
    append(words, options_.program);
    append(words, workplace_.words(job));
    append(words, options_.every_call);
    if (job.training) append(words, options_.every_training);
    words.emplace_back("--json");
    running_.push_back(
        {&job, Child(words, folder / "printed.txt", folder / "log.txt"), Clock::now()});
  }

  void collect() {
    for (auto one = running_.begin(); one != running_.end();) {
      const auto end = one->child.ended();
      if (!end) {
        ++one;
        continue;
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - one->start).count();
      finish(*one->job, *end, seconds);
      one = running_.erase(one);
    }
  }

  // Of a training that is done, the model stays: what it would resume from takes ten times the
  // space.
  void finish(const StudyJob& job, const Child::End& end, double seconds) {
    const fs::path folder = workplace_.folder(job.name);
    const auto printed =
        nlohmann::json::parse(read_text_file(folder / "printed.txt"), nullptr, false);
    if (end.code == 0 && !printed.is_discarded()) {
      const JobResult result{printed, seconds, end.core_seconds};
      workplace_.write_result(job, result);
      for (const char* leftover : {"printed.txt", "last.safetensors", "previous.safetensors",
                                   "best.safetensors", "features.safetensors"}) {
        fs::remove(folder / leftover);
      }
      done_.insert(job.name);
      told_(job, result);
      return;
    }
    if (interrupt_requested()) return;
    const std::string said = last_words(folder / "log.txt");
    report_.failed[job.name] = end.code == 0 ? "it printed no result" : said;
    told_(job, {});
  }

  [[noreturn]] void stop() {
    for (const Running& one : running_) one.child.interrupt();
    while (!running_.empty()) {
      collect();
      std::this_thread::sleep_for(kPause);
    }
    throw InterruptedError("interrupted; the same command goes on where it was stopped");
  }

  const Workplace& workplace_;
  const RunnerOptions& options_;
  const ToldOfJob& told_;
  std::list<const StudyJob*> waiting_;
  std::list<Running> running_;
  std::set<std::string> done_;
  RunnerReport report_;
};

}  // namespace

RunnerReport run_jobs(const Workplace& workplace, const RunnerOptions& options,
                      const ToldOfJob& told) {
  return Runner(workplace, options, told).run();
}

}  // namespace addp
