#include "commands/demo.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/version.h"
#include "data/shapes.h"
#include "diffusion/model_io.h"
#include "generate/sampler.h"
#include "image/codec.h"
#include "nn/picture_tensor.h"
#include "nn/torch.h"
#include "report/html_page.h"
#include "train/addp_stage.h"
#include "train/predictor_stage.h"
#include "train/tokenizer_stage.h"
#include "train/trainer.h"

namespace addp {
namespace {

constexpr std::int64_t kSide = 32;  // pixels; 8x8 tokens of 4 pixels
constexpr std::int64_t kShown = 8;

std::int64_t scaled(double steps, const DemoOptions& options) {
  return std::max<std::int64_t>(4, std::llround(steps * options.scale));
}

TrainOptions common(const DemoOptions& options, const char* stage, double steps,
                    std::int64_t batch) {
  TrainOptions train;
  train.data = fmt::format("shapes:size={},count=4000,seed={}", kSide, options.seed);
  train.out = options.out / stage;
  train.size = kSide;
  train.seed = options.seed;
  train.steps = scaled(steps, options);
  train.warmup_steps = train.steps / 20;
  train.batch_size = batch;
  train.lr = 1e-3;
  train.min_lr = 1e-5;
  train.clip = 3;
  train.ema = 0.99;
  train.save_every = std::max<std::int64_t>(1, train.steps / 4);
  train.picture_every = train.save_every;
  return train;
}

TokenizerTrainOptions tokenizer_options(const DemoOptions& options) {
  TokenizerTrainOptions stage;
  stage.train = common(options, "tokenizer", 600, 32);
  stage.train.lr = 2e-3;
  stage.train.weight_decay = 1e-4;
  stage.network = vqgan_preset("light-4");
  stage.network.blocks = 1;
  stage.network.codes = 256;
  stage.perceptual = 0;
  stage.adversarial = 0;
  stage.restart_every = std::max<std::int64_t>(1, stage.train.steps / 12);
  return stage;
}

TokenOptions token_options(const DemoOptions& options) {
  TokenOptions tokens;
  tokens.tokenizer = options.out / "tokenizer";
  tokens.crop = 0.7;
  tokens.views = 1;
  return tokens;
}

// Smaller than any preset: the scene is simple, and the demo is to end soon.
TransformerOptions network_options() {
  TransformerOptions network;
  network.preset = "nano";
  network.width = network.decoder_width = 96;
  network.depth = 4;
  network.decoder_depth = 2;
  network.dropout = 0;
  return network;
}

PredictorTrainOptions predictor_options(const DemoOptions& options) {
  PredictorTrainOptions stage;
  stage.train = common(options, "predictor", 400, 64);
  stage.tokens = token_options(options);
  stage.network = network_options();
  stage.class_ids = 1;
  return stage;
}

AddpTrainOptions addp_options(const DemoOptions& options) {
  AddpTrainOptions stage;
  stage.train = common(options, "addp", 400, 64);
  stage.tokens = token_options(options);
  stage.predictor = options.out / "predictor";
  stage.network = network_options();
  stage.class_ids = 1;
  stage.sample_steps = 12;
  return stage;
}

struct Row {
  std::string stage;
  double seconds;
  Metrics metrics;
};

template <class StageType, class OptionsStruct>
Row run_demo_stage(const OptionsStruct& options, const RunContext& context) {
  const auto start = std::chrono::steady_clock::now();
  World world;
  StageType stage(options, world);
  const Metrics metrics = train(stage, options.train, world, context);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {stage.name(), took.count(), metrics};
}

// The three stages with a configuration that records the seed and the length, so that a second call
// of the same demo goes on where the first was stopped.
std::vector<Row> train_all(const DemoOptions& options, const RunContext& context) {
  std::vector<Row> rows;
  note("1 of 3: a tokenizer learns to write pictures as 8x8 tokens");
  rows.push_back(run_demo_stage<TokenizerStage>(tokenizer_options(options), context));
  note("2 of 3: a predictor learns to guess hidden tokens");
  rows.push_back(run_demo_stage<PredictorStage>(predictor_options(options), context));
  note("3 of 3: ADDP learns to denoise pixels and tokens in turn");
  rows.push_back(run_demo_stage<AddpStage>(addp_options(options), context));
  return rows;
}

struct Drawn {
  Tensor samples;                  // [B, 3, S, S]
  std::vector<Tensor> trajectory;  // x_t of the first pictures, a step each
};

Drawn draw(const LoadedAddp& model, const DemoOptions& options) {
  torch::NoGradGuard guard;
  SamplerOptions sampler;
  sampler.steps = 12;
  constexpr std::int64_t kCount = 32;
  std::vector<std::uint64_t> indices(kCount);
  std::iota(indices.begin(), indices.end(), 0);
  StreamNoise noise(static_cast<std::uint64_t>(options.seed), indices);
  Drawn drawn;
  Progress progress("generate", sampler.steps, "steps");
  SamplerHooks hooks;
  hooks.on_step = [&](const SamplerStep& step) {
    drawn.trajectory.push_back(step.pixels.slice(0, 0, 4).clone());
    progress.advance();
  };
  hooks.cancelled = interrupt_requested;
  drawn.samples =
      generate(*model.network, *model.tokenizer,
               SamplerStart::nothing(kCount, model.network->config().grid), sampler, noise, hooks)
          .pixels;
  return drawn;
}

Tensor real_pictures(const DemoOptions& options, std::int64_t count) {
  ShapesOptions shapes;
  shapes.size = static_cast<int>(kSide);
  shapes.seed = static_cast<std::uint64_t>(options.seed);
  std::vector<Image> images;
  for (std::int64_t i = 0; i < count; ++i) images.push_back(draw_shapes(shapes, "val", i).image);
  return to_tensor(images);
}

// One row a picture, one column a step.
Image trajectory_sheet(const std::vector<Tensor>& steps) {
  const Tensor all = torch::stack(steps, 1);  // [B, S, 3, H, W]
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < all.size(0); ++i) rows.push_back(all[i]);
  return picture_rows(rows);
}

Table results_table(const std::vector<Row>& rows) {
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

void write_page(const DemoOptions& options, const std::vector<Row>& rows) {
  const LoadedAddp model = load_addp(options.out / "addp");
  const Drawn drawn = draw(model, options);
  torch::NoGradGuard guard;
  const Tensor real = real_pictures(options, kShown);
  const Grid grid = model.network->config().grid;
  const Tensor rebuilt = model.tokenizer->decode_ids(model.tokenizer->encode(real), grid);

  HtmlPage page("addp demo", fmt::format("addp {} on the procedural set, from nothing", version()));
  page.table(results_table(rows));
  page.heading("Reconstruction");
  page.picture(picture_rows({real, rebuilt}),
               "Above: pictures the tokenizer never saw. Below: what its 64 tokens keep of them.",
               3);
  page.heading("Generation");
  page.picture(picture_rows(drawn.samples.split(kShown)),
               "Pictures out of nothing by alternating denoising, 12 steps.", 3);
  page.picture(trajectory_sheet(drawn.trajectory),
               "The noisy picture x_t of four samples after each step.", 2);
  page.heading("Curves and more");
  page.paragraph(
      "Each stage has its own page: tokenizer/index.html, predictor/index.html and addp/index.html "
      "beside this file.");
  page.write(options.out / "index.html");
  save_image(options.out / "samples.png", picture_rows(drawn.samples.split(kShown)));
}

}  // namespace

void run_demo(const DemoOptions& options, const RunContext& context) {
  make_folder(options.out);
  const std::vector<Row> rows = train_all(options, context);
  throw_if_interrupted("run the demo again to go on");
  write_page(options, rows);
  const auto page = std::filesystem::absolute(options.out / "index.html");
  if (context.json) {
    print_stdout(
        nlohmann::json{{"page", page.string()}, {"model", (options.out / "addp").string()}}.dump(
            2) +
        "\n");
  } else {
    print_stdout(results_table(rows).to_text() + fmt::format("page: {}\n", page));
  }
}

}  // namespace addp
