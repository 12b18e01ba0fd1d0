#include "data/inspect/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/run/progress.h"
#include "data/inspect/inspect_picture.h"
#include "data/shapes/shapes_dataset.h"

namespace addp {
namespace {

// Calls work(i) for 0 <= i < count on several threads; the first exception comes out.
void for_each_in_parallel(std::size_t count, int threads, bool show,
                          const std::function<void(std::size_t)>& work) {
  std::optional<Progress> progress;
  if (show) progress.emplace("pictures", static_cast<std::int64_t>(count), "pictures");
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i; (i = next++) < count;) {
      try {
        work(i);
        const std::lock_guard lock(mutex);
        if (progress) progress->advance();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 1; i < threads; ++i) pool.emplace_back(run);
  } catch (const std::system_error&) {  // no more threads: those there are do the work
  }
  run();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

class Inspector {
 public:
  Inspector(const std::string& spec, const InspectOptions& options) : options_(options) {
    report_.path = spec;
  }

  DatasetReport run() {
    source_ = open_source(report_.path, options_.data.limits);
    layout_ = recognise_layout(*source_);
    report_.kind = layout_.kind;
    report_.layout = layout_.describe();
    report_.class_names = layout_.class_names;
    for (const LayoutSplit& split : layout_.splits) add_split(split);
    examine_all();
    report_.pictures = 0;
    for (const SplitReport& split : report_.splits) report_.pictures += split.pictures;
    list_tasks();
    return std::move(report_);
  }

 private:
  void add_split(const LayoutSplit& split) {
    report_.splits.emplace_back().name = split.name;
    switch (layout_.kind) {
      case LayoutKind::kCifar10:
      case LayoutKind::kCifar100:
        return add_cifar(split);
      case LayoutKind::kCoco:
        return add_coco(split);
      case LayoutKind::kSegmentation:
        make_rule();
        break;
      default:
        break;
    }
    SplitReport& out = report_.splits.back();
    out.pictures = static_cast<std::int64_t>(split.pictures.size());
    if (!split.classes.empty()) out.class_counts.resize(layout_.class_keys.size());
    for (std::size_t i = 0; i < split.pictures.size(); ++i) {
      PictureJob job{split.pictures[i], report_.splits.size() - 1, kNoEntry, 0, 0, {}, {}};
      if (!split.labels.empty()) add_labels(split, i, job);
      if (!split.classes.empty()) count_class(split, i, out);
      jobs_.push_back(std::move(job));
    }
  }

  void count_class(const LayoutSplit& split, std::size_t i, SplitReport& out) {
    if (split.classes[i] >= 0) {
      ++out.class_counts[static_cast<std::size_t>(split.classes[i])];
    } else {
      report_.annotations.push_back(
          {"no class", source_->describe(split.pictures[i]), "", "has no class"});
    }
  }

  void add_labels(const LayoutSplit& split, std::size_t i, PictureJob& job) {
    job.labels = split.labels[i];
    if (job.labels != kNoEntry) {
      ++report_.splits.back().annotations;
    } else {
      report_.annotations.push_back(
          {"missing file", source_->describe(split.pictures[i]), "", "has no label map"});
    }
  }

  // A set whose classes cannot be found out is still looked through, without that check.
  void make_rule() {
    if (rule_ || rule_failed_) return;
    try {
      rule_ = make_label_rule(*source_, layout_, options_.data);
      report_.class_names = rule_->class_names;
    } catch (const DataError& error) {
      rule_failed_ = true;
      report_.annotations.push_back({"classes", report_.path, "", error.what()});
    }
  }

  void add_cifar(const LayoutSplit& split) {
    SplitReport& out = report_.splits.back();
    try {
      const DatasetPtr set = make_cifar_dataset(*source_, layout_, split);
      report_.class_names = set->class_names();
      out.pictures = set->size();
      out.class_counts.resize(set->class_names().size());
      for (std::int64_t i = 0; i < set->size(); ++i) {
        ++out.class_counts[static_cast<std::size_t>(set->class_of(i))];
      }
      note_size(32, 32, set->size());
    } catch (const DataError& error) {
      report_.broken.push_back({"damaged", report_.path, split.name, error.what()});
    }
  }

  void add_coco(const LayoutSplit& split) {
    SplitReport& out = report_.splits.back();
    const std::string name = source_->describe(split.annotations);
    CocoFile file;
    try {
      file = parse_coco(source_->read(split.annotations).view, name);
    } catch (const DataError& error) {
      report_.annotations.push_back({"bad file", name, "", error.what()});
      return;
    }
    for (DataProblem& problem : file.problems) report_.annotations.push_back(std::move(problem));
    if (report_.class_names.empty()) {
      for (const CocoCategory& category : file.categories)
        report_.class_names.push_back(category.name);
    }
    out.annotations = static_cast<std::int64_t>(file.annotations.size());
    out.class_counts.resize(file.categories.size());
    for (const CocoAnnotation& a : file.annotations) {
      ++out.class_counts[static_cast<std::size_t>(file.class_of(a.category_id))];
    }
    const std::vector<std::size_t> entries = find_coco_pictures(*source_, layout_, split, file);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const CocoImage& image = file.images[i];
      const std::string id = fmt::format("image {}", image.id);
      if (entries[i] == kNoEntry) {
        report_.annotations.push_back(
            {"missing file", name, id, fmt::format("'{}' does not exist", image.file_name)});
        continue;
      }
      ++out.pictures;
      jobs_.push_back(
          {entries[i], report_.splits.size() - 1, kNoEntry, image.width, image.height, name, id});
    }
  }

  void examine_all() {
    int threads = options_.threads > 0 ? options_.threads
                                       : static_cast<int>(std::thread::hardware_concurrency());
    threads = std::max(threads, 1);
    std::vector<PictureFindings> findings(jobs_.size());
    for_each_in_parallel(jobs_.size(), threads, options_.progress, [&](std::size_t i) {
      findings[i] = examine_picture(*source_, jobs_[i], rule_ ? &*rule_ : nullptr, options_);
    });
    for (std::size_t i = 0; i < jobs_.size(); ++i) take(jobs_[i], findings[i]);
    for (const auto& [size, count] : sizes_) {
      report_.sizes.emplace_back(fmt::format("{}x{}", size.first, size.second), count);
    }
    std::stable_sort(report_.sizes.begin(), report_.sizes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  void take(const PictureJob& job, PictureFindings& findings) {
    if (findings.broken) {
      ++report_.splits[job.split].broken;
    } else {
      ++report_.formats[format_name(findings.info.format)];
      note_size(findings.info.width, findings.info.height, 1);
    }
    auto& target = findings.broken ? report_.broken : report_.odd;
    std::move(findings.problems.begin(), findings.problems.end(), std::back_inserter(target));
    std::move(findings.annotations.begin(), findings.annotations.end(),
              std::back_inserter(report_.annotations));
  }

  void note_size(int width, int height, std::int64_t count) {
    if (count == 0) return;
    const bool first = sizes_.empty();
    sizes_[{width, height}] += count;
    report_.min_width = first ? width : std::min(report_.min_width, width);
    report_.max_width = std::max(report_.max_width, width);
    report_.min_height = first ? height : std::min(report_.min_height, height);
    report_.max_height = std::max(report_.max_height, height);
  }

  void list_tasks() {
    if (report_.pictures == 0) return;
    report_.tasks = {"tokenizer", "predictor", "addp"};
    const bool cifar =
        layout_.kind == LayoutKind::kCifar10 || layout_.kind == LayoutKind::kCifar100;
    if (layout_.has_classes() || cifar) {
      report_.tasks.insert(report_.tasks.end(), {"classifier", "probe"});
    }
    if (layout_.kind == LayoutKind::kCoco) {
      report_.tasks.insert(report_.tasks.end(), {"detector", "segmenter"});
    }
    if (layout_.kind == LayoutKind::kSegmentation) report_.tasks.emplace_back("segmenter");
  }

  InspectOptions options_;
  DatasetReport report_;
  SourcePtr source_;
  Layout layout_;
  std::optional<LabelRule> rule_;
  bool rule_failed_ = false;
  std::vector<PictureJob> jobs_;
  std::map<std::pair<int, int>, std::int64_t> sizes_;
};

DatasetReport report_shapes(const std::string& spec) {
  DatasetReport report;
  report.path = spec;
  report.kind = LayoutKind::kPictures;
  report.layout = "procedural set; splits train, val";
  report.tasks = {"tokenizer", "predictor", "addp", "classifier", "probe", "detector", "segmenter"};
  const ShapesOptions options = parse_shapes_spec(spec);
  report.min_width = report.max_width = report.min_height = report.max_height = options.size;
  for (const char* name : {"train", "val"}) {
    const DatasetPtr set = make_shapes_dataset(options, name, Task::kClassification);
    report.class_names = set->class_names();
    SplitReport split{name, set->size(), 0, 0,
                      std::vector<std::int64_t>(set->class_names().size())};
    // Whole rounds of the classes are balanced by construction.
    const auto kinds = static_cast<std::int64_t>(split.class_counts.size());
    for (std::int64_t& count : split.class_counts) count = set->size() / kinds;
    for (std::int64_t i = set->size() / kinds * kinds; i < set->size(); ++i) {
      ++split.class_counts[static_cast<std::size_t>(set->class_of(i))];
    }
    report.pictures += set->size();
    report.splits.push_back(std::move(split));
  }
  report.sizes = {{fmt::format("{0}x{0}", options.size), report.pictures}};
  return report;
}

}  // namespace

bool DatasetReport::usable() const {
  const auto missing = std::count_if(
      annotations.begin(), annotations.end(),
      [](const DataProblem& p) { return p.kind == "missing file" || p.kind == "bad file"; });
  const auto bad = static_cast<std::int64_t>(broken.size()) + missing;
  return pictures > 0 && bad * 100 <= pictures;
}

DatasetReport inspect_dataset(const std::string& spec, const InspectOptions& options) {
  if (is_shapes_spec(spec)) return report_shapes(spec);
  return Inspector(spec, options).run();
}

}  // namespace addp
