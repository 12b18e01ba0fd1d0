#include "commands/start/show_cells.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "base/interrupt.h"
#include "base/run/progress.h"
#include "commands/recognise/loaded_classifier.h"
#include "generate/edit.h"
#include "image/codec/animation.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "image/resize/resize.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kCellSteps = 24, kEditSteps = 16;
constexpr std::int64_t kSheet = 64, kRow = 8, kVariants = 4;
constexpr double kGuidance = 2, kTopP = 0.9, kTemperature = 4;
constexpr Color kHiddenColor{128, 128, 128};
constexpr int kShownScale = 2;

Image strip(const std::vector<Image>& pictures) {
  return make_grid(pictures, static_cast<int>(pictures.size()));
}

// The rows of a figure as one picture beside the page, for those who want it alone.
void save_rows(const std::filesystem::path& path, const std::vector<LabelledPicture>& rows) {
  std::vector<Image> strips;
  for (const LabelledPicture& row : rows) strips.push_back(row.image);
  save_image(path, make_grid(strips, 1));
}

// A task as a viewer sees it: what is hidden in grey.
Image with_hidden(const EditTask& task) {
  Image shown = task.picture;
  blend_mask(shown, task.hidden, kHiddenColor, 1);
  return shown;
}

}  // namespace

ShowCells::ShowCells(const DemoOptions& options, const std::string& model)
    : options_(options), model_(Generator::open(model)) {
  const auto classes = static_cast<std::int64_t>(model_.class_names().size());
  if (classes == 0) {
    made_.push_back(make(-1, kSheet + kRow));
    return;
  }
  // Some of every class for the sheet, and a row beside them.
  const std::int64_t count = kRow + std::max<std::int64_t>(1, kSheet / classes);
  Progress progress("generate", classes * count, "pictures");
  for (std::int64_t label = 0; label < classes; ++label) {
    made_.push_back(make(label, count));
    progress.advance(count);
  }
}

GenerationPlan ShowCells::plan(std::int64_t label, std::int64_t count) const {
  GenerationPlan plan;
  plan.seed = static_cast<std::uint64_t>(options_.seed);
  plan.count = plan.batch = count;
  plan.label = label;
  plan.sampler.steps = kCellSteps;
  plan.sampler.top_p = kTopP;
  plan.sampler.temperature = kTemperature;
  if (label >= 0) plan.sampler.guidance = kGuidance;
  return plan;
}

ShowCells::Made ShowCells::make(std::int64_t label, std::int64_t count) const {
  Made made;
  made.label = label;
  if (label >= 0) made.name = model_.class_names()[static_cast<std::size_t>(label)];
  Trajectory trajectory(model_.tokenizer(), model_.grid());
  SamplerHooks hooks;
  hooks.cancelled = interrupt_requested;
  hooks.on_step = [&](const SamplerStep& step) {
    SamplerStep first = step;
    first.tokens = step.tokens.slice(0, 0, 1);
    first.masked = step.masked.slice(0, 0, 1);
    if (step.pixels.defined()) first.pixels = step.pixels.slice(0, 0, 1);
    trajectory.add(first);
  };
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(),
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, label * count)));
  made.pictures = to_images(model_.sample(numbers, plan(label, count), hooks).pixels);
  made.steps = trajectory.frames(0);
  return made;
}

std::vector<const ShowCells::Made*> ShowCells::some(std::size_t count) const {
  std::vector<const Made*> chosen;
  for (std::size_t i = 0; i < std::min(count, made_.size()); ++i) chosen.push_back(&made_[i]);
  return chosen;
}

void ShowCells::add_sheet(HtmlPage& page) const {
  std::vector<Image> sheet;
  for (std::int64_t i = 0; i < kSheet; ++i) {
    // Neighbours are of different classes, in rows and in columns.
    const auto place = static_cast<std::size_t>(i + i / kRow);
    const Made& made = made_[place % made_.size()];
    const std::size_t sheet_part = made.pictures.size() - kRow;
    sheet.push_back(
        made.pictures[kRow + (static_cast<std::size_t>(i) / made_.size()) % sheet_part]);
  }
  const Image whole = make_grid(sheet, static_cast<int>(kRow));
  save_image(options_.out / "samples.png", whole);
  page.paragraph(
      "Each begins as an empty grid of tokens. Step by step the network decides on a few more of them.");
  page.picture(
      whole,
      fmt::format("64 pictures of {}x{} pixels, {} steps each. None of them shows a cell of "
                  "a real person.",
                  model_.width(), model_.height(), kCellSteps),
      1, Look::kPhoto);
}

void ShowCells::add_classes(HtmlPage& page) const {
  if (model_.class_names().empty()) {
    page.note("Left out: this model was trained without classes.");
    return;
  }
  std::vector<LabelledPicture> rows;
  for (const Made& made : made_) {
    rows.push_back({made.name, strip({made.pictures.begin(), made.pictures.begin() + kRow})});
  }
  save_rows(options_.out / "kinds.png", rows);
  page.paragraph("The same model, asked for one kind at a time.");
  page.rows(rows, "Eight pictures of every kind, as they came: nothing was picked out.", 1,
            Look::kPhoto);
}

void ShowCells::add_trajectory(HtmlPage& page) const {
  constexpr std::size_t kAnimated = 3;
  const auto chosen = some(kAnimated);
  std::vector<Image> frames;
  for (std::size_t step = 0; step < chosen.front()->steps.size(); ++step) {
    std::vector<Image> parts;
    for (const Made* made : chosen) {
      parts.push_back(trajectory_animation({made->steps[step]}, 160).front());
    }
    frames.push_back(make_grid(parts, 1, 6));
  }
  const Bytes moving = encode_webp_animation(frames, {.frame_ms = 220, .last_ms = 2500});
  write_file_atomically(options_.out / "steps.webp", moving);
  page.paragraph(
      "Alternating denoising at work. Left: the parts that are decided, the rest in grey. Middle: "
      "the tokens as colours, similar ones alike. Right: the noisy picture that the encoder sees, "
      "which becomes the finished one.");
  page.animation(moving, "Three pictures from the first to the last step.", frames.front().width);
  page.picture(trajectory_strip(chosen.front()->steps, 12),
               "The first of them, step by step from left to right.", 1);
}

void ShowCells::add_inpaintings(HtmlPage& page) const {
  std::vector<LabelledPicture> rows;
  for (const Made* made : some(4)) {
    const Image& picture = made->pictures.front();
    const int side = std::min(picture.width, picture.height);
    const EditTask task = hide_box(picture, {side / 4, side / 4, side / 2, side / 2});
    EditOptions edit;
    edit.generation = plan(made->label, kVariants);
    edit.generation.sampler.steps = kEditSteps;
    std::vector<Image> cells{picture, with_hidden(task)};
    for (const Image& variant : fill_in(task, model_, edit)) cells.push_back(variant);
    rows.push_back({made->name, strip(cells)});
  }
  save_rows(options_.out / "inpainted.png", rows);
  page.paragraph(
      "The middle of a picture is taken away; the model, which sees the rest, puts something there. "
      "All other pixels stay exactly as they are.");
  page.rows(rows, "A picture from above, what the model is given, and four of its answers.",
            kShownScale, Look::kPhoto);
}

void ShowCells::add_uncropping(HtmlPage& page) const {
  const Made& made = made_.back();
  const Image& picture = made.pictures.front();
  const int across = picture.width / 4, down = picture.height / 4;
  const EditTask task = extend(picture, {across, down, across, down});
  EditOptions edit;
  edit.generation = plan(made.label, kVariants);
  edit.generation.sampler.steps = kEditSteps;
  std::vector<Image> cells{with_hidden(task)};
  for (const Image& variant : fill_in(task, model_, edit)) cells.push_back(variant);
  page.paragraph("The other way round: a picture, and what could lie around it.");
  page.picture(strip(cells),
               "A picture with empty margins, and four ways to continue it beyond its edges.",
               kShownScale, Look::kPhoto);
}

void ShowCells::add_reconstructions(HtmlPage& page) const {
  std::vector<Image> pictures;
  for (const Made* made : some(kRow)) pictures.push_back(made->pictures.front());
  const Tensor pixels = to_tensor(pictures).to(compute_device());
  const Tensor again =
      model_.tokenizer().decode_ids(model_.tokenizer().encode(pixels), model_.grid());
  const auto bits = static_cast<std::int64_t>(
      std::bit_width(static_cast<std::uint64_t>(model_.tokenizer().config().codes - 1)));
  page.paragraph(fmt::format(
      "A tokenizer writes a picture as {} words out of {}: {} bytes instead of {}. This "
      "is what can be read back.",
      model_.grid().area(), model_.tokenizer().config().codes,
      (model_.grid().area() * bits + 7) / 8, model_.width() * model_.height() * 3));
  page.rows({{"pictures", strip(pictures)}, {"from their tokens", strip(to_images(again))}},
            "Above: pictures that were made here. Below: the same from their tokens alone.",
            kShownScale, Look::kPhoto);
}

double ShowCells::add_agreement(HtmlPage& page) const {
  if (model_.class_names().empty()) {
    page.note("Left out: this model was trained without classes.");
    return -1;
  }
  MachineOptions machine;
  machine.compute = options_.compute;
  const LoadedClassifier classifier("cells/classifier", {}, machine);
  const auto side = static_cast<int>(classifier.pass("").size);
  Table table{"", {"asked for", "recognised as such", "share", "else most often taken for"}, {}};
  std::int64_t right = 0, all = 0;
  for (const Made& made : made_) {
    std::vector<Image> pictures;
    for (const Image& picture : made.pictures) pictures.push_back(resize(picture, side, side));
    const Tensor seen = classifier.logits(to_tensor(pictures).to(compute_device())).argmax(1).cpu();
    std::map<std::string, std::int64_t> names;
    for (std::int64_t i = 0; i < seen.size(0); ++i) {
      ++names[classifier.classes().name(seen[i].item<std::int64_t>())];
    }
    const std::int64_t agreed = names[made.name];
    names.erase(made.name);
    const auto most =
        std::max_element(names.begin(), names.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    right += agreed;
    all += seen.size(0);
    table.rows.push_back({made.name, fmt::format("{} of {}", agreed, seen.size(0)),
                          fmt::format("{:.0f}%", 100.0 * double(agreed) / double(seen.size(0))),
                          most == names.end() ? "" : most->first});
  }
  const double share = double(right) / double(all);
  page.paragraph(fmt::format(
      "A classifier that learned from real pictures looks at all {} pictures that were made here. It "
      "sees the kind that was asked for in {} of them: {:.0f}%.",
      all, right, 100 * share));
  page.table(table);
  return share;
}

}  // namespace addp
