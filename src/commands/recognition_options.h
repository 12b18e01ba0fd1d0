// What the commands that run a trained network over pictures have in common. Free of libtorch.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "nn/compute_options.h"

namespace addp {

struct MachineOptions {
  std::int64_t batch = 64, workers = 0;
  ComputeOptions compute;

  void describe(Options& o) {
    o.group("Machine");
    o.add("batch-size", batch, "pictures at a time").range(1, 100000);
    compute.describe(o);
    o.add("workers", workers, "threads that read pictures; 0: one a core").range(0, 4096);
  }
};

// addp classify
struct ClassifyOptions {
  std::filesystem::path model, classes;
  std::vector<std::string> pictures;
  std::int64_t top = 5;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("pictures", pictures, "pictures, folders or archives")
        .positional()
        .required()
        .metavar("PICTURE...");
    o.add("model", model, "a run of 'addp train classifier' or 'probe', or a published classifier")
        .required();
    o.add("top", top, "classes to name for each picture").range(1, 1000);
    o.add("classes", classes, "names for a model that holds none: a line a class");
    machine.describe(o);
  }
};

// addp features
struct FeaturesOptions {
  std::filesystem::path model, tokenizer, out;
  std::string data, split = "all";
  std::int64_t size = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("model", model, "a network whose encoder is used: ADDP, predictor, classifier")
        .required();
    o.add("tokenizer", tokenizer, "for an encoder of tokens whose model has no tokenizer inside");
    o.add("data", data, "a folder, a file list, an archive, or 'shapes'")
        .required()
        .metavar("DATA");
    o.add("split", split, "train, val, test or all");
    o.add("out", out, "a .safetensors file (features, labels, names) or .npy (features)")
        .required();
    o.add("size", size, "side of the pictures; 0: what the model was trained on").range(0, 4096);
    machine.describe(o);
  }
};

// addp eval classification
struct EvalClassificationOptions {
  std::filesystem::path model, classes, confusion;
  std::string data, split;
  std::int64_t limit = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("model", model, "a run of 'addp train classifier' or 'probe', or a published classifier")
        .required();
    o.add("data", data, "pictures in a folder a class, or 'shapes'").required().metavar("DATA");
    o.add("split", split, "empty: val, or test, or what there is");
    o.add("limit", limit, "pictures, an even draw; 0: all").range(0, 1e12);
    o.add("classes", classes, "names for a model that holds none: a line a class");
    o.add("confusion", confusion, "a picture of the confusion matrix (.png) to write");
    machine.describe(o);
  }
};

// addp eval detection
struct EvalDetectionOptions {
  std::filesystem::path annotations, detections;
  std::vector<std::string> only;

  void describe(Options& o) {
    o.add("annotations", annotations, "the truth, in COCO's format").required();
    o.add("detections", detections, "results, in COCO's format").required();
    o.add("only", only, "the classes that count, by name; empty: all").metavar("NAME");
  }
};

// addp eval segmentation
struct EvalSegmentationOptions {
  std::filesystem::path labels, predictions, classes, confusion;
  std::string zero_label = "class";
  std::int64_t ignore = 255, count = 0;

  void describe(Options& o) {
    o.add("labels", labels, "folder of label maps (.png)").required();
    o.add("predictions", predictions,
          "folder of predicted maps: NAME-labels.png, as 'addp segment' writes them, or NAME.png")
        .required();
    o.add("zero-label", zero_label,
          "ignore: the labels count classes from 1 and 0 is not counted, as in ADE20k; predictions "
          "always count from 0")
        .choices({"class", "ignore"});
    o.add("ignore-label", ignore, "pixels of this label do not count").range(0, 255);
    o.add("num-classes", count, "0: those that --classes names, or the largest label decides")
        .range(0, 255);
    o.add("classes", classes, "names: a line a class");
    o.add("confusion", confusion, "a picture of the confusion matrix (.png) to write");
  }
};

// addp eval robustness
struct EvalRobustnessOptions {
  std::filesystem::path model, classes, imagenet_c, examples;
  std::string data, split;
  std::vector<std::string> corruptions, shifted;
  std::int64_t limit = 0, seed = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("model", model, "a run of 'addp train classifier' or 'probe', or a published classifier")
        .required();
    o.add("data", data, "clean pictures in a folder a class, or 'shapes'; they are corrupted here")
        .metavar("DATA");
    o.add("split", split, "empty: val, or test, or what there is");
    o.add("imagenet-c", imagenet_c,
          "a folder in ImageNet-C's layout (corruption/severity/class), used instead of corrupting "
          "--data");
    o.add("shifted", shifted,
          "sets of the same or fewer classes (ImageNet-A, -R, -Sketch): paths, or NAME=PATH");
    o.add("corruptions", corruptions, "names; empty: all fifteen");
    o.add("limit", limit, "pictures of each set, an even draw; 0: all").range(0, 1e12);
    o.add("seed", seed, "of the corruptions").range(0, 9e15);
    o.add("classes", classes, "names for a model that holds none: a line a class");
    o.add("examples", examples, "a picture (.png) to write: one picture in every corruption");
    machine.describe(o);
  }
};

}  // namespace addp
