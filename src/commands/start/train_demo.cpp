#include "commands/start/train_demo.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/version.h"
#include "commands/make/sampling.h"
#include "commands/start/demo_stages.h"
#include "data/shapes/shapes.h"
#include "generate/edit.h"
#include "generate/trajectory.h"
#include "image/codec/animation.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "report/html_page.h"
#include "stages/generative/make_stage.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

constexpr std::int64_t kShown = 8, kSteps = 16;
constexpr double kShapeGuidance = 2;

TokenizerTrainOptions tokenizer_options(const DemoOptions& options) {
  TokenizerTrainOptions stage;
  stage.train = demo_training(options, "tokenizer", 500, 32);
  stage.train.weight_decay = 1e-4;
  stage.network = vqgan_preset("light-4");
  stage.network.blocks = 1;
  stage.network.codes = 128;
  stage.perceptual = 0;
  stage.adversarial = 0;
  stage.restart_every = std::max<std::int64_t>(1, stage.train.steps / 12);
  return stage;
}

TokenOptions token_options(const DemoOptions& options) {
  TokenOptions tokens;
  tokens.tokenizer = options.out / "tokenizer";
  tokens.crop = 1;
  tokens.flip = false;
  tokens.views = 1;
  tokens.cache = options.out / "tokens.safetensors";
  tokens.class_conditional = true;
  return tokens;
}

TransformerOptions network_options() {
  TransformerOptions network;
  network.preset = "nano";
  network.dropout = 0;
  return network;
}

// What the stages that learn from tokens have in common.
template <class StageOptions>
StageOptions on_tokens(const DemoOptions& options, const char* name, double steps) {
  StageOptions stage;
  stage.train = demo_training(options, name, steps, 64);
  stage.train.lr = 1.5e-3;
  stage.tokens = token_options(options);
  stage.network = network_options();
  return stage;
}

PredictorTrainOptions predictor_options(const DemoOptions& options) {
  auto stage = on_tokens<PredictorTrainOptions>(options, "predictor", 800);
  stage.label_smoothing = 0;
  return stage;
}

AddpTrainOptions addp_options(const DemoOptions& options) {
  auto stage = on_tokens<AddpTrainOptions>(options, "addp", 380);
  stage.predictor = options.out / "predictor";
  stage.diffusion.label_smoothing = 0;
  stage.sample_steps = 12;
  return stage;
}

// All stages with a configuration that records the seed and the length, so that a second call of
// the same demo goes on where the first was stopped.
std::vector<DemoRow> train_all(const DemoOptions& options, const RunContext& context) {
  std::vector<DemoRow> rows;
  note("1 of 6: a tokenizer learns to write pictures as 8x8 tokens");
  rows.push_back(run_demo_stage(tokenizer_options(options), context));
  note("2 of 6: a predictor learns to guess hidden tokens");
  rows.push_back(run_demo_stage(predictor_options(options), context));
  note("3 of 6: ADDP learns to denoise pixels and tokens in turn");
  rows.push_back(run_demo_stage(addp_options(options), context));
  train_recognisers(options, context, rows);
  return rows;
}

GenerationPlan plan_of(const DemoOptions& options, std::int64_t count) {
  GenerationPlan plan;
  plan.seed = static_cast<std::uint64_t>(options.seed);
  plan.count = plan.batch = count;
  plan.sampler.steps = kSteps;
  plan.sampler.top_p = 0.9;
  plan.sampler.temperature = 3;
  return plan;
}

// A row per kind of shape, and the steps of all of them.
Tensor draw(const Generator& model, const DemoOptions& options, Trajectory& trajectory) {
  torch::NoGradGuard guard;
  const auto kinds = static_cast<std::int64_t>(model.class_names().size());
  GenerationPlan plan = plan_of(options, kinds * kShown);
  plan.sampler.guidance = kShapeGuidance;
  std::vector<PictureAsk> asks;
  for (std::int64_t i = 0; i < plan.count; ++i) {
    asks.push_back({{plan.seed, static_cast<std::uint64_t>(i)}, i / kShown});
  }
  SamplingProgress progress("generate", plan.sampler.steps);
  return model
      .sample_asked(asks, plan,
                    progress.hooks([&](const SamplerStep& step) { trajectory.add(step); }))
      .pixels;
}

// A picture, its middle hidden, and variants of what could be there; one row per picture.
Image inpaintings(const Generator& model, const DemoOptions& options,
                  const std::vector<Image>& pictures) {
  EditOptions edit;
  edit.generation = plan_of(options, 4);
  std::vector<Image> cells;
  for (const auto& picture : pictures) {
    const int side = picture.width;
    const EditTask task = hide_box(picture, {side / 4, side / 4, side / 2, side / 2});
    Image shown = picture;
    blend_mask(shown, task.hidden, {128, 128, 128}, 1);
    cells.push_back(picture);
    cells.push_back(shown);
    for (const auto& variant : fill_in(task, model, edit)) cells.push_back(variant);
  }
  return make_grid(cells, 6);
}

std::vector<Image> held_out_pictures(const DemoOptions& options, std::int64_t count) {
  const ShapesOptions shapes = parse_shapes_spec(demo_data(options, 1));
  std::vector<Image> images;
  for (std::int64_t i = 0; i < count; ++i) images.push_back(draw_shapes(shapes, "val", i).image);
  return images;
}

Table results_table(const std::vector<DemoRow>& rows) {
  Table table{"Results", {"stage", "time", "figures on held-out pictures"}, {}};
  for (const auto& row : rows) {
    std::string figures;
    for (const auto& [name, value] : row.metrics) {
      figures += fmt::format("{}{} {:.3f}", figures.empty() ? "" : ", ", name, value);
    }
    table.rows.push_back({row.stage, format_duration(row.seconds), figures});
  }
  return table;
}

void add_generation(HtmlPage& page, const DemoOptions& options) {
  const Generator model = Generator::open(options.out / "addp");
  torch::NoGradGuard guard;
  const std::vector<Image> pictures = held_out_pictures(options, kShown);
  const Tensor real = to_tensor(pictures).to(compute_device());
  const Tensor rebuilt = model.tokenizer().decode_ids(model.tokenizer().encode(real), model.grid());
  page.heading("Reconstruction");
  page.picture(picture_rows({real, rebuilt}),
               "Above: pictures the tokenizer never saw. Below: what its 64 tokens keep of them.",
               3);
  Trajectory trajectory(model.tokenizer(), model.grid());
  const Tensor made = draw(model, options, trajectory);
  std::vector<LabelledPicture> rows;
  for (const Tensor& row : made.split(kShown)) {
    rows.push_back({model.class_names()[rows.size()], picture_rows({row})});
  }
  page.heading("Generation");
  page.rows(
      rows,
      fmt::format("Pictures out of nothing by alternating denoising, {} steps; a row per kind "
                  "of shape that was asked for.",
                  kSteps),
      3);
  page.picture(trajectory_strip(trajectory.frames(0), 12),
               "The first of them step by step: what is reliable, the tokens' embeddings as "
               "colours, and the noisy picture x_t.",
               2);
  page.animation(encode_webp_animation(trajectory_animation(trajectory.frames(1)),
                                       {.frame_ms = 250, .last_ms = 1500}),
                 "The second one as it comes about.", 600);
  page.heading("Inpainting");
  page.picture(inpaintings(model, options, {pictures[0], pictures[1], pictures[2]}),
               "A picture, its middle hidden, and four ways to fill it in.", 3);
  save_image(options.out / "samples.png", picture_rows(made.split(kShown)));
}

void write_page(const DemoOptions& options, const std::vector<DemoRow>& rows) {
  HtmlPage page("addp demo", fmt::format("addp {} on the procedural set, from nothing", version()));
  page.table(results_table(rows));
  add_generation(page, options);
  page.heading("Recognition");
  for (const auto& row : rows) {
    if (!row.caption.empty()) page.picture(row.panel, row.caption, 2);
  }
  page.heading("Curves and more");
  page.paragraph("Each stage has its own page: NAME/index.html beside this file.");
  page.write(options.out / "index.html");
}

}  // namespace

void train_demo(const DemoOptions& options, const RunContext& context) {
  const std::vector<DemoRow> rows = train_all(options, context);
  throw_if_interrupted("run the same command again to go on");
  write_page(options, rows);
  const auto page = std::filesystem::absolute(options.out / "index.html");
  if (context.json) {
    print_stdout(json_text(nlohmann::json{{"page", page.string()},
                                          {"model", (options.out / "addp").string()}},
                           2) +
                 "\n");
  } else {
    print_stdout(results_table(rows).to_text() + fmt::format("page: {}\n", page));
  }
}

}  // namespace addp
