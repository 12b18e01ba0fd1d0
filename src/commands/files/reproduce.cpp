#include "commands/files/reproduce.h"

#include <fmt/ranges.h>

#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file/folder.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "checkpoint/layout/weights_digest.h"
#include "checkpoint/named/find_model.h"
#include "data/shapes/shapes_dataset.h"
#include "image/codec/stored_as.h"
#include "report/table.h"
#include "reproduce/page/report.h"
#include "reproduce/plan/studies.h"
#include "reproduce/run/child.h"
#include "reproduce/run/estimate.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

// A path is the same whatever folder a later call is made in.
std::string whole_path(const std::string& given) {
  return fs::exists(given) ? fs::canonical(given).string() : given;
}

Setting setting_of(const ReproduceOptions& options) {
  Setting setting;
  setting.scale = scale_of(options.scale);
  for (const std::string& need : setting.scale.requirements) note("needed: {}", need);
  setting.data = options.data.empty() ? setting.scale.data : whole_path(options.data);
  if (setting.data.empty()) {
    throw UsageError("--scale {} has no pictures of its own: give --data", options.scale);
  }
  setting.dense = whole_path(options.dense);
  if (setting.dense.empty() && is_shapes_spec(setting.data)) {
    setting.dense = options.data.empty() ? setting.scale.dense : setting.data;
  }
  setting.maps = options.maps.empty() ? setting.dense : whole_path(options.maps);
  setting.seeds = options.seeds;
  setting.length = options.length;
  setting.samples = options.samples;
  stored_as(options.as);  // refused now, not by a job
  setting.as = options.as;
  if (!options.tokenizer.empty()) {
    setting.tokenizer = fs::canonical(find_model(options.tokenizer, {"tokenizer"})).string();
  }
  if (!options.predictor.empty()) {
    if (options.tokenizer.empty()) {
      throw UsageError("--predictor needs its --tokenizer: it speaks that tokenizer's codes");
    }
    setting.predictor = fs::canonical(find_model(options.predictor, {"predictor"})).string();
  }
  if (!options.addp.empty()) {
    if (options.predictor.empty()) {
      throw UsageError("--addp needs its --predictor: it is compared with it");
    }
    setting.addp = fs::canonical(find_model(options.addp, {"addp"})).string();
  }
  look_at_data(setting);
  return setting;
}

// Sets of pictures are told apart by name and number.
void add_outside(const Setting& setting, Plan& plan) {
  for (const std::string& model : {setting.tokenizer, setting.predictor, setting.addp}) {
    if (!model.empty()) plan.add_outside(model, weights_digest(model));
  }
  const auto set = [&](const std::string& data, std::int64_t pictures, std::int64_t held_out) {
    if (!fs::path(data).is_absolute()) return;
    plan.add_outside(
        data, fmt::format("{} {} {}", fs::path(data).filename().string(), pictures, held_out));
  };
  set(setting.maps, setting.map_pictures, 0);
  set(setting.dense, setting.dense_pictures, 0);
  set(setting.data, setting.pictures, setting.held_out);
}

std::vector<Study> make_studies(const ReproduceOptions& options, Jobs& jobs) {
  std::vector<Study> studies;
  for (const std::string& name : options.only.empty() ? study_names() : options.only) {
    studies.push_back(make_study(name, jobs));
  }
  return studies;
}

RunnerOptions runner_options(const ReproduceOptions& options) {
  RunnerOptions runner;
  runner.jobs = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  runner.program = {this_program()};
  std::istringstream words(options.launcher);
  for (std::string word; words >> word;) runner.launcher.push_back(word);
  const std::string threads = std::to_string(options.threads);
  runner.every_call = {"--threads", threads};
  runner.every_training = {"--workers", threads, "--processes", std::to_string(options.processes)};
  return runner;
}

std::string time_text(double seconds) { return fmt::format("{:.2f}", seconds / 3600); }

nlohmann::json plan_json(const Workplace& workplace, const Estimate& estimate) {
  nlohmann::json jobs = nlohmann::json::array();
  const std::set<std::string> to_do = workplace.to_do();
  for (const StudyJob& job : workplace.plan().jobs()) {
    jobs.push_back({{"name", job.name},
                    {"key", workplace.plan().key(job.name)},  // as results.json has it
                    {"kind", job.kind},
                    {"needs", workplace.plan().needs(job)},
                    {"call", workplace.words(job)},
                    {"done", !to_do.contains(job.name)},
                    {"seconds", estimate.of_job.at(job.name)}});
  }
  return {{"jobs", jobs},
          {"core_seconds", estimate.core_seconds},
          {"seconds", estimate.seconds},
          {"unknown", estimate.unknown}};
}

std::string plan_text(const Workplace& workplace, const Estimate& estimate, std::int64_t side) {
  Table table{.title = "", .header = {"job", "length", "time", "needs"}, .rows = {}};
  const std::set<std::string> to_do = workplace.to_do();
  for (const StudyJob& job : workplace.plan().jobs()) {
    const bool done = !to_do.contains(job.name);
    const double seconds = estimate.of_job.at(job.name);
    table.rows.push_back({job.name,
                          job.length_option.empty() ? "" : fmt::format("{:.0f}", units_of(job)),
                          done          ? "done"
                          : seconds > 0 ? format_duration(seconds)
                                        : "?",
                          fmt::format("{}", fmt::join(workplace.plan().needs(job), " "))});
  }
  std::string text = table.to_text();
  text += fmt::format("{} jobs, {} to do", table.rows.size(), to_do.size());
  if (estimate.unknown < std::ssize(to_do)) {
    text += fmt::format(": about {} core-hours, {} with {} side by side",
                        time_text(estimate.core_seconds), format_duration(estimate.seconds), side);
  }
  return text + "\n";
}

void show_plan(const Workplace& workplace, const std::vector<Study>& studies,
               const Estimate& estimate, std::int64_t side, const RunContext& context) {
  if (context.json) {
    print_stdout(json_text(plan_json(workplace, estimate), 2) + "\n");
    return;
  }
  std::string text = plan_text(workplace, estimate, side);
  for (const Study& study : studies) {
    for (const std::string& missing : study.left_out) {
      text += fmt::format("{}: left out: {}\n", study.name, missing);
    }
  }
  print_stdout(text);
}

std::vector<std::string> paragraphs_of(const fs::path& file) {
  std::vector<std::string> paragraphs;
  if (file.empty()) return paragraphs;
  std::istringstream text(read_text_file(file));
  std::string paragraph;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) {
      paragraph += (paragraph.empty() ? "" : "\n") + line;
    } else if (!paragraph.empty()) {
      paragraphs.push_back(std::move(paragraph));
      paragraph.clear();
    }
  }
  if (!paragraph.empty()) paragraphs.push_back(std::move(paragraph));
  return paragraphs;
}

class Reproduction {
 public:
  Reproduction(const ReproduceOptions& options, const RunContext& context)
      : options_(options),
        context_(context),
        setting_(setting_of(options)),
        jobs_(setting_, plan_),
        workplace_(plan_, fs::absolute(options.out).lexically_normal()),
        runner_(runner_options(options)) {
    add_outside(setting_, plan_);
    studies_ = make_studies(options, jobs_);
    for (const std::string& file : options.earlier) workplace_.add_earlier(file);
  }

  void run() {
    make_folder(workplace_.out());
    const FolderLock lock(workplace_.out());
    rates_ = options_.measure ? measure_rates(workplace_, runner_) : Rates{};
    if (options_.dry_run || !context_.json) {
      show_plan(workplace_, studies_, estimate(workplace_, rates_, runner_.jobs), runner_.jobs,
                context_);
      finish_stdout();
    }
    if (options_.dry_run) return;
    context_.write_configuration(workplace_.out());
    try {
      report_ = run_jobs(workplace_, runner_,
                         [this](const StudyJob& job, const auto& result) { tell(job, result); });
    } catch (const InterruptedError&) {
      write();
      throw;
    }
    write();
    answer();
  }

 private:
  // After each job: what has ended, and what is left.
  void tell(const StudyJob& job, const std::optional<JobResult>& result) {
    write_results();
    const Estimate rest = estimate(workplace_, rates_, runner_.jobs);
    const std::string time =
        rest.seconds > 0 ? fmt::format(", about {}", format_duration(rest.seconds)) : "";
    note("{} {}; {} of {} jobs left{}", job.name,
         result ? "took " + format_duration(result->seconds) : "FAILED", workplace_.to_do().size(),
         plan_.jobs().size(), time);
  }

  void write_results() const {
    std::set<std::string> looked_at;
    for (const Study& study : studies_) {
      for (const StudyPanel& panel : study.panels) looked_at.insert(panel.job);
    }
    workplace_.write_results(looked_at);
  }

  void write() {
    write_results();
    Findings findings = collect_findings(setting_, studies_, workplace_);
    findings.command = context_.command_line;
    findings.failed = report_.failed;
    findings.discussion = paragraphs_of(options_.discussion);
    write_report(findings, workplace_);
    if (!options_.document.empty()) write_document(findings, workplace_, options_.document);
    tally_ = tally_text(findings);
  }

  void answer() {
    const std::string page = (workplace_.out() / "index.html").string();
    const std::string file = (workplace_.out() / "reproduce.json").string();
    if (context_.json) {
      print_stdout(json_text(nlohmann::json{{"page", page},
                                            {"results", file},
                                            {"failed", report_.failed},
                                            {"left", report_.left}},
                             2) +
                   "\n");
    } else {
      print_stdout(fmt::format("{}\npage: {}\nresults: {}\n", tally_, page, file));
    }
    if (report_.failed.empty()) return;
    const auto& [job, said] = *report_.failed.begin();
    throw RuntimeError(
        "{} of {} jobs failed and {} that need them were not run; the first is {}: {}; {} says more, "
        "and the same command tries them again",
        report_.failed.size(), plan_.jobs().size(), report_.left.size(), job, said,
        workplace_.folder(job) / "log.txt");
  }

  const ReproduceOptions& options_;
  const RunContext& context_;
  Setting setting_;
  Plan plan_;
  Jobs jobs_;
  Workplace workplace_;
  RunnerOptions runner_;
  std::vector<Study> studies_;
  Rates rates_;
  RunnerReport report_;
  std::string tally_;
};

}  // namespace

void run(const ReproduceOptions& options, const RunContext& context) {
  for (const std::string& name : options.only) {
    const auto names = study_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError("--only {}: there are {}", name, fmt::join(names, ", "));
    }
  }
  Reproduction(options, context).run();
}

}  // namespace addp
