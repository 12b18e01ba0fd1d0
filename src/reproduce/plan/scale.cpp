#include "reproduce/plan/scale.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace addp {
namespace {

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The paper generates without classes; the shipped recipes also learn them.
const std::vector<std::string> kUnconditional = {"--no-class-conditional", "--class-ids", "1"};

// The recipes of the models that come with the program; heads are trained alike from every start,
// so that none is favoured (the shipped classifier's layer-wise decay favours pre-trained
// encoders).
Scale nano() {
  Scale s;
  s.name = "nano";
  s.summary = "64x64 pictures, 8x8 tokens, networks of 2 million parameters: hours on a few cores";
  s.data = "shapes:size=64,count=16000,val=2000";
  s.dense = "shapes:size=64,count=8000,val=256";
  s.size = 64;
  s.preset = "nano";
  s.patch = 8;
  s.depth = 6;
  s.probed = {1, 2, 3, 4, 5, 6};
  s.convolutional = "resnet-nano";
  s.tokenizer = {.recipe = "tokenizer/cells.toml", .words = {}, .batch = 32, .steps = 4200};
  s.predictor = {
      .recipe = "predictor/cells.toml", .words = kUnconditional, .batch = 64, .steps = 8000};
  s.addp = {.recipe = "addp/cells.toml", .words = kUnconditional, .batch = 64, .steps = 2800};
  s.ablation = s.resnet = s.addp;
  s.classifier = {
      .recipe = "classifier/tiny.toml", .words = {"--eval-every", "0"}, .batch = 64, .steps = 1000};
  s.scratch = s.resnet_classifier = s.classifier;
  s.probe = {.recipe = "probe/tiny.toml",
             .words = {"--feature-views", "1"},
             .batch = 256,
             .epochs = 30,
             .warmup = 0.07};
  const std::vector<std::string> dense = {"--size",       "128", "--scale-low",  "0.75",
                                          "--scale-high", "1.5", "--eval-every", "0"};
  s.detector = {.recipe = "detector/tiny.toml",
                .words = joined(dense, {"--strides", "4,8,16", "--window", "8", "--anchors", "128",
                                        "--proposals", "200", "--regions", "64"}),
                .batch = 8,
                .steps = 1200};
  s.segmenter = {.recipe = "segmenter/tiny.toml", .words = dense, .batch = 8, .steps = 800};
  s.samples = 2000;
  s.step_grid = {4, 8, 16, 32, 64};
  s.top_p = {0.95, 0.9, 0.7, 0.5};
  s.constant_temperature = {0, 2, 6, 20};
  s.falling_temperature = {2, 20};
  s.label_shares = {0.01, 0.1};
  s.robustness_pictures = 200;
  s.shown = 36;
  return s;
}

Scale tiny() {
  Scale s = nano();
  s.name = "tiny";
  s.summary = "as nano with the larger networks of the preset tiny, trained twice as long";
  s.preset = "tiny";
  s.depth = 12;
  s.probed = {2, 4, 6, 8, 10, 12};
  for (StageScale* stage : {&s.predictor, &s.addp, &s.ablation, &s.resnet}) {
    stage->words = joined(stage->words, {"--preset", "tiny"});
  }
  for (StageScale* stage :
       {&s.tokenizer, &s.predictor, &s.addp, &s.ablation, &s.resnet, &s.classifier, &s.scratch,
        &s.resnet_classifier, &s.detector, &s.segmenter}) {
    stage->steps *= 2;
  }
  return s;
}

// Small enough for a test: every job of the graph within a second.
Scale mini() {
  Scale s = nano();
  s.name = "mini";
  s.summary =
      "32x32 pictures, a few steps of everything: shows that the graph runs, decides nothing";
  s.data = s.dense = "shapes:size=32,count=64,val=12,seed=1";
  s.size = 32;
  s.tokenizer.words = {"--channels",   "8", "--multipliers",   "1,1,1", "--stem",       "2",
                       "--groups",     "4", "--codes",         "32",    "--code-width", "4",
                       "--perceptual", "0", "--restart-every", "2"};
  for (StageScale* stage :
       {&s.tokenizer, &s.predictor, &s.addp, &s.ablation, &s.resnet, &s.classifier, &s.scratch,
        &s.resnet_classifier, &s.detector, &s.segmenter}) {
    stage->batch = 4;
    stage->steps = 2;
  }
  s.detector.words = {"--strides",   "4,8,16", "--channels",      "16",
                      "--box-width", "32",     "--mask-channels", "16"};
  s.segmenter.words = {"--channels", "16", "--auxiliary-channels", "16"};
  s.probed = {2, 6};
  s.probe.batch = 32;
  s.probe.epochs = 2;
  s.samples = 6;
  s.sample_steps = 4;
  s.step_grid = {2, 4};
  s.top_p = {0.5};
  s.constant_temperature = {6};
  s.falling_temperature = {2};
  s.label_shares = {0.25};
  s.robustness_pictures = 2;
  s.shown = 4;
  return s;
}

// The paper's tables of hyper-parameters: ViT-B, for which it has every table.
Scale paper() {
  Scale s;
  s.name = "paper";
  s.summary = "the paper's own setting with ViT-B: ImageNet-1k, COCO, ADE20k, weeks on many GPUs";
  s.size = 256;
  s.preset = "base";
  s.patch = 16;
  s.depth = 12;
  s.probed = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  s.convolutional = "resnet50";
  s.tokenizer = {
      .recipe = "tokenizer/base.toml", .words = {}, .batch = 256, .epochs = 100, .warmup = 0.01};
  s.predictor = {
      .recipe = "predictor/base.toml", .words = {}, .batch = 4096, .epochs = 1600, .warmup = 0.025};
  s.addp = {
      .recipe = "addp/base.toml", .words = {}, .batch = 4096, .epochs = 1600, .warmup = 0.025};
  s.ablation = s.addp;
  s.ablation.epochs = 150;
  s.resnet = {.recipe = "addp/resnet50.toml",
              .words = {},
              .batch = 2048,
              .epochs = 300,
              .warmup = 1.0 / 30};
  s.classifier = {
      .recipe = "classifier/base.toml", .words = {}, .batch = 1024, .epochs = 100, .warmup = 0.2};
  s.scratch = {.recipe = "classifier/scratch.toml",
               .words = {},
               .batch = 4096,
               .epochs = 300,
               .warmup = 1.0 / 15};
  s.resnet_classifier = {.recipe = "classifier/resnet50.toml",
                         .words = {},
                         .batch = 2048,
                         .epochs = 100,
                         .warmup = 0.05};
  s.probe = {
      .recipe = "probe/base.toml", .words = {}, .batch = 16384, .epochs = 90, .warmup = 1.0 / 9};
  s.detector = {
      .recipe = "detector/base.toml", .words = {}, .batch = 128, .epochs = 100, .warmup = 0.0027};
  s.segmenter = {
      .recipe = "segmenter/base.toml", .words = {}, .batch = 32, .steps = 80000, .warmup = 0.01875};
  s.samples = 50000;
  s.step_grid = {8, 16, 32, 64, 128, 256};
  s.top_p = {0.95, 0.9, 0.7, 0.5, 0.3, 0.1};
  s.constant_temperature = {0, 2, 6, 20, 60};
  s.falling_temperature = {2, 20, 60};
  s.label_shares = {0.01, 0.1};
  s.shown = 64;
  s.requirements = {
      "ImageNet-1k as --data (1.28 million pictures, 150 GB), COCO 2017 as --dense (20 GB) and "
      "ADE20k as --maps (1 GB)",
      "GPUs: one step of ADDP computes about 0.8 TFLOP per picture (tokenizer, predictor twice, the "
      "network forward and backward); 1600 epochs are 1.6e21 FLOP, 160 days of one GPU that keeps "
      "up 120 TFLOP/s, and each of the eight ablations of 150 epochs 15 days",
      "the published tokenizer and predictor spare their training: --tokenizer "
      "vqgan_jax_strongaug.ckpt --predictor mage-vitb-1600.pth",
      "200 GB of disk for checkpoints under --out",
      "several GPUs per job: --processes 8, or --launcher 'torchrun --nproc-per-node 8 --no-python' "
      "or --launcher 'srun --nodes 4 --gpus-per-node 8', each with --jobs 1"};
  return s;
}

}  // namespace

std::vector<std::string> scale_names() { return {"mini", "nano", "tiny", "paper"}; }

Scale scale_of(std::string_view name) {
  if (name == "mini") return mini();
  if (name == "nano") return nano();
  if (name == "tiny") return tiny();
  if (name == "paper") return paper();
  throw UsageError("--scale {}: there are {}", name, fmt::join(scale_names(), ", "));
}

}  // namespace addp
