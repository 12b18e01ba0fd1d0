// The table of commands: what --help lists, in its order.
#include "cli/command.h"
#include "commands/bench_images.h"
#include "commands/convert.h"
#include "commands/demo.h"
#include "commands/detect.h"
#include "commands/doctor.h"
#include "commands/segment.h"
#include "commands/train.h"

namespace addp {
namespace {

constexpr const char* kStart = "Start here";
constexpr const char* kLearn = "Learn from your pictures";
constexpr const char* kRecognise = "Recognise what pictures show";
constexpr const char* kFiles = "Look at and convert files";
constexpr const char* kMachine = "Measure this machine";

std::vector<Command> first_commands() {
  return {
      {"demo",
       kStart,
       "train all stages on pictures made here and show what they do, in minutes",
       "Ends with the place of an HTML page. A demo that was stopped goes on when it is called "
       "again.",
       {"addp demo"},
       library_invocation<DemoOptions>("demo")},
  };
}

std::vector<Command> training_commands() {
  return {
      {"train tokenizer",
       kLearn,
       "a VQ tokenizer: pictures to tokens and back",
       "Reconstruction, LPIPS, codebook losses and a patch discriminator. The same command again "
       "resumes "
       "a run that was stopped, exactly.",
       {"addp train tokenizer --config configs/tokenizer/tiny.toml --data PICTURES --out "
        "runs/tokenizer"},
       library_invocation<TokenizerTrainOptions>("train tokenizer")},
      {"train predictor",
       kLearn,
       "a token predictor (MAGE) on the tokenizer's tokens",
       "",
       {"addp train predictor --config configs/predictor/tiny.toml --data PICTURES --tokenizer "
        "runs/tokenizer "
        "--out runs/predictor"},
       library_invocation<PredictorTrainOptions>("train predictor")},
      {"train addp",
       kLearn,
       "the ADDP encoder and decoder; tokenizer and predictor stay frozen",
       "",
       {"addp train addp --config configs/addp/tiny.toml --data PICTURES --tokenizer "
        "runs/tokenizer "
        "--predictor runs/predictor --out runs/addp"},
       library_invocation<AddpTrainOptions>("train addp")},
      {"train segmenter",
       kLearn,
       "semantic segmentation: UperNet on a trained encoder, or on a new one",
       "Label maps are PNG files beside the pictures. Ends with mIoU on the validation split.",
       {"addp train segmenter --config configs/segmenter/tiny.toml --data shapes:count=8000 --out "
        "runs/segmenter",
        "addp train segmenter --config configs/segmenter/base.toml --data ADE20K --model runs/addp "
        "--out runs/segmenter"},
       library_invocation<SegmenterTrainOptions>("train segmenter")},
      {"train detector",
       kLearn,
       "detection with instance masks: Mask R-CNN on a trained encoder, or on a new one",
       "A ViT works as in ViTDet, a ResNet with a feature pyramid. Annotations are COCO's. Ends "
       "with "
       "AP of boxes and masks on the validation split.",
       {"addp train detector --config configs/detector/tiny.toml --data shapes:count=8000 --out "
        "runs/detector",
        "addp train detector --config configs/detector/base.toml --data COCO --model runs/addp "
        "--out runs/detector"},
       library_invocation<DetectorTrainOptions>("train detector")},
  };
}

std::vector<Command> recognition_commands() {
  return {
      {"detect",
       kRecognise,
       "the things in pictures: boxes, masks and classes",
       "",
       {"addp detect --model runs/detector PICTURES --out detected"},
       library_invocation<DetectCommandOptions>("detect")},
      {"segment",
       kRecognise,
       "the class of every pixel: overlays, label maps and shares",
       "",
       {"addp segment --model runs/segmenter PICTURES --out segmented"},
       library_invocation<SegmentCommandOptions>("segment")},
  };
}

std::vector<Command> file_commands() {
  return {
      {"doctor",
       kFiles,
       "say what a checkpoint or data set is and what can be done with it",
       "Every picture of a data set is decoded; broken and odd ones are named. Exit code 3 if "
       "anything "
       "cannot be used.",
       {"addp doctor PICTURES model.pth", "addp doctor --preset base"},
       invocation<DoctorOptions>(run_doctor)},
      {"convert",
       kFiles,
       "turn published checkpoints into ours (.safetensors) and back (.pth)",
       "",
       {"addp convert addp-vit-base.pth addp.safetensors"},
       invocation<ConvertCommandOptions>(run_convert)},
  };
}

std::vector<Command> machine_commands() {
  return {
      {"bench images",
       kMachine,
       "pictures a second through decode, crop, resize and flip",
       "",
       {"addp bench images PICTURES"},
       invocation<BenchImagesOptions>(run_bench_images)},
  };
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all;
    for (auto part : {first_commands(), training_commands(), recognition_commands(),
                      file_commands(), machine_commands()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

}  // namespace addp
