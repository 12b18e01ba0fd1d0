#include "commands/start/show_demo.h"

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "base/version.h"
#include "checkpoint/named/find_model.h"
#include "commands/start/show_cells.h"
#include "commands/start/show_shapes.h"
#include "nn/torch.h"

namespace addp {
namespace {

struct Section {
  const char* title;
  const char* model;  // the name of what it needs
  std::function<void()> add;
};

// The page as it grows, with the time that each section took.
class DemoPage {
 public:
  explicit DemoPage(const DemoOptions& options)
      : options_(options),
        page_("One encoder that generates and recognises",
              fmt::format("What addp {} does with the models that come with it", version())) {}

  HtmlPage& html() { return page_; }
  const Table& times() const { return times_; }
  double seconds() const { return seconds_; }

  void add(const Section& section) {
    throw_if_interrupted("run the demo again");
    page_.heading(section.title);
    if (!is_model(section.model, {})) {
      page_.note(
          fmt::format("Left out: there is no model '{}' here. 'addp models' lists those there "
                      "are.",
                      section.model));
      note("{}: left out, there is no model '{}'", section.title, section.model);
      return;
    }
    note("{}", section.title);
    const auto start = std::chrono::steady_clock::now();
    section.add();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    times_.rows.push_back({section.title, fmt::format("{:.1f} s", took.count())});
    seconds_ += took.count();
  }

  std::filesystem::path finish() {
    page_.heading("How long it took");
    page_.paragraph(fmt::format("Everything above was computed for this page, in {}.",
                                format_duration(seconds_)));
    page_.table(times_);
    page_.heading("Your turn");
    page_.code(
        "addp models                                   # what comes with the program\n"
        "addp generate --model cells -n 16 --out cells-made\n"
        "addp train tokenizer --config configs/tokenizer/tiny.toml --data PICTURES --out runs/tokenizer\n"
        "addp demo --train                             # every stage from nothing, in minutes");
    const auto path = options_.out / "index.html";
    page_.write(path);
    return std::filesystem::absolute(path);
  }

 private:
  const DemoOptions& options_;
  HtmlPage page_;
  Table times_{"", {"part", "time"}, {}};
  double seconds_ = 0;
};

void introduce(HtmlPage& page) {
  page.paragraph(
      "addp learns one image encoder from pictures, and uses it twice: to make new pictures, and to "
      "recognise what is in them. It does so by alternating between pixels and tokens, the short "
      "codes that a tokenizer writes a picture in (ADDP, ICLR 2024).");
  page.paragraph(
      "None of the pictures on this page is a photograph: every one was made by the program while "
      "the page was written.");
}

}  // namespace

void show_demo(const DemoOptions& options, const RunContext& context) {
  torch::NoGradGuard guard;
  DemoPage demo(options);
  introduce(demo.html());
  std::optional<ShowCells> cells;
  double agreement = -1;
  const char* const maker = is_model("cells/addp", {}) ? "cells/addp" : "cells/predictor";
  const std::vector<Section> sections = {
      {"64 cells out of nothing", maker,
       [&] {
         cells.emplace(options, maker);
         cells->add_sheet(demo.html());
       }},
      {"A row for every kind", maker, [&] { cells->add_classes(demo.html()); }},
      {"How a picture comes about", "cells/addp", [&] { cells->add_trajectory(demo.html()); }},
      {"Filling in what is hidden", "cells/addp", [&] { cells->add_inpaintings(demo.html()); }},
      {"Beyond the edge", "cells/addp", [&] { cells->add_uncropping(demo.html()); }},
      {"What 64 tokens keep", maker, [&] { cells->add_reconstructions(demo.html()); }},
      {"Are they what was asked for?", "cells/classifier",
       [&] {
         if (cells) {
           agreement = cells->add_agreement(demo.html());
         } else {
           demo.html().note("Left out: there are no generated pictures to look at.");
         }
       }},
      {"Finding things", "shapes/detector", [&] { add_detections(options, demo.html()); }},
      {"A class for every pixel", "shapes/segmenter",
       [&] { add_label_maps(options, demo.html()); }},
  };
  for (const Section& section : sections) demo.add(section);
  const std::string page = demo.finish().string();
  if (context.json) {
    const nlohmann::json json = {
        {"page", page},
        {"seconds", demo.seconds()},
        {"agreement", agreement < 0 ? nlohmann::json() : nlohmann::json(agreement)}};
    print_stdout(json_text(json, 2) + "\n");
  } else {
    print_stdout(demo.times().to_text() + fmt::format("page: {}\n", page));
  }
}

}  // namespace addp
