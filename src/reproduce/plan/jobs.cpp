#include "reproduce/plan/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file/file_io.h"
#include "data/load/open_dataset.h"
#include "image/codec/codec.h"
#include "image/resize/resize.h"
#include "reproduce/plan/recipe.h"

namespace addp {
namespace {

std::string seeded(const std::string& name, std::int64_t seed) {
  return fmt::format("{}.{}", name, seed);
}

const char* name_of(Start start) {
  switch (start) {
    case Start::kAddp:
      return "addp";
    case Start::kMage:
      return "mage";
    case Start::kScratch:
      return "scratch";
    case Start::kScratchTokens:
      return "scratch-tokens";
    case Start::kScratchResnet:
      return "scratch-resnet";
  }
  return "";
}

std::string named(const std::string& what, const Variant& variant) {
  return variant.name.empty() ? what : what + "-" + variant.name;
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

Image middle_square(const Image& image, int side) {
  const int shorter = std::min(image.width, image.height);
  return resize(crop(image, center_box(image.width, image.height, shorter)), side, side);
}

// As many steps as the scale and --length say; at least one.
std::int64_t steps_of(const StageScale& scale, std::int64_t pictures, double length) {
  const double full = scale.steps > 0 ? static_cast<double>(scale.steps)
                                      : scale.epochs * static_cast<double>(pictures) /
                                            static_cast<double>(scale.batch);
  return std::max<std::int64_t>(1, std::llround(full * length));
}

}  // namespace

std::string Jobs::train(const std::string& stage, const std::string& name, const StageScale& scale,
                        std::int64_t pictures, std::int64_t seed, std::vector<std::string> words,
                        const std::string& kind) {
  // A probe is short and says little before its end.
  const double length = stage == "probe" ? std::max(setting_.length, 1.0) : setting_.length;
  const std::int64_t steps = steps_of(scale, pictures, length);
  const auto warmup = static_cast<std::int64_t>(scale.warmup * static_cast<double>(steps));
  std::vector<std::string> all = {"train", stage, "--config",
                                  plan_.add_recipe(stage, recipe_text(scale.recipe))};
  // Before the words of the scale, which may give another size.
  append(all, {"--size", std::to_string(setting_.scale.size)});
  append(all, scale.words);
  append(all, {"--batch-size", std::to_string(scale.batch), "--steps", std::to_string(steps),
               "--warmup-steps", std::to_string(std::max<std::int64_t>(1, warmup)), "--seed",
               std::to_string(seed), "--save-every",
               std::to_string(std::clamp<std::int64_t>(steps / 20, 20, 1000)), "--picture-every",
               "0", "--out", in_folder(name)});
  append(all, words);
  return plan_.add({.name = name,
                    .kind = kind.empty() ? "train " + stage : kind,
                    .words = std::move(all),
                    .length_option = "--steps",
                    .training = true});
}

std::string Jobs::tokenizer() {
  if (!setting_.tokenizer.empty()) return setting_.tokenizer;
  return in_folder(train("tokenizer", "tokenizer", setting_.scale.tokenizer, setting_.pictures, 1,
                         {"--data", setting_.data}));
}

// Crops are tokenized once for all networks, as many of each picture as a training looks at.
std::vector<std::string> Jobs::token_words(const StageScale& scale) {
  const auto looks = static_cast<double>(steps_of(scale, setting_.pictures, setting_.length)) *
                     static_cast<double>(scale.batch) / static_cast<double>(setting_.pictures);
  const std::int64_t views = std::clamp<std::int64_t>(std::llround(std::ceil(looks)), 1, 4);
  std::vector<std::string> words = {"--data", setting_.data, "--tokenizer", tokenizer()};
  if (setting_.scale.name != "paper") append(words, {"--token-views", std::to_string(views)});
  return words;
}

std::string Jobs::predictor() {
  if (!setting_.predictor.empty()) return setting_.predictor;
  return in_folder(train("predictor", "predictor", setting_.scale.predictor, setting_.pictures, 1,
                         token_words(setting_.scale.predictor)));
}

// One step of an ADDP that is not looked at any further: it leaves the tokens that all others take.
std::string Jobs::tokens() {
  StageScale one = setting_.scale.addp;
  one.steps = 1;
  std::vector<std::string> words = token_words(setting_.scale.addp);
  append(words, {"--predictor", predictor(), "--token-cache",
                 in_folder("tokens") + "/tokens.safetensors"});
  return train("addp", "tokens", one, setting_.pictures, 1, std::move(words), "tokenize");
}

// The paper ablates shorter runs than the one it is compared by; the smaller scales do not. A ready
// network has its own length: ablations are compared with one as long as they are.
Variant Jobs::usual() const {
  const Scale& s = setting_.scale;
  const bool same = setting_.addp.empty() && s.ablation.epochs == s.addp.epochs;
  return same ? Variant{} : Variant{.name = "default"};
}

std::string Jobs::addp_model(const Variant& variant, std::int64_t seed) {
  if (variant.name.empty() && !setting_.addp.empty()) return setting_.addp;
  return in_folder(addp(variant, seed));
}

std::string Jobs::addp(const Variant& variant, std::int64_t seed) {
  const Scale& s = setting_.scale;
  const bool resnet = variant.name == "resnet";
  const bool ablated = !variant.name.empty() && !resnet;
  const StageScale& scale = resnet ? s.resnet : ablated ? s.ablation : s.addp;
  std::vector<std::string> words = token_words(s.addp);
  append(words, {"--predictor", predictor()});
  if (s.name != "paper") {
    append(words, {"--token-cache", in_folder(tokens()) + "/tokens.safetensors"});
  }
  append(words, variant.training);
  return train("addp", seeded(named("addp", variant), seed), scale, setting_.pictures, seed,
               std::move(words), resnet ? "train addp with a ResNet" : "train addp");
}

// The features of the held-out pictures, once for every FID.
std::string Jobs::reference() {
  return plan_.add(
      {.name = "reference",
       .kind = "features of the reference",
       .words = {"eval", "fid", setting_.data, setting_.data, "--generated-split",
                 setting_.held_out_split, "--split", setting_.held_out_split, "--reference-count",
                 "4", "--count", std::to_string(setting_.held_out), "--size",
                 std::to_string(setting_.scale.size), "--no-cache", "--save",
                 in_folder("reference") + "/reference.safetensors"},
       .length_option = "--count"});
}

std::string Jobs::fid(const std::string& name, const std::string& model, std::int64_t seed,
                      std::vector<std::string> sampling) {
  if (!setting_.fid) return {};
  const auto given = std::find(sampling.begin(), sampling.end(), "--steps");
  const std::string steps =
      given != sampling.end() ? *(given + 1) : std::to_string(setting_.scale.sample_steps);
  std::vector<std::string> words = {"eval",    "fid",
                                    model,     in_folder(reference()) + "/reference.safetensors",
                                    "--seed",  std::to_string(seed),
                                    "--count", std::to_string(setting_.samples)};
  if (given == sampling.end()) append(words, {"--steps", steps});
  if (setting_.as != "png") append(words, {"--as", setting_.as});
  append(words, sampling);
  return plan_.add({.name = name,
                    .kind = fmt::format("eval fid, {} steps", steps),
                    .words = std::move(words),
                    .length_option = "--count"});
}

std::string Jobs::fid_of_addp(const Variant& variant, std::int64_t seed,
                              const std::vector<std::string>& sampling, const std::string& label) {
  std::vector<std::string> words = variant.sampling;
  append(words, sampling);
  return fid(seeded(named("fid", variant) + label, seed), addp_model(variant, seed), seed,
             std::move(words));
}

std::string Jobs::fid_of_mage(std::int64_t seed) {
  return fid(seeded("fid-mage", seed), predictor(), seed, {});
}

std::string Jobs::fid_of_tokenizer() {
  return plan_.add({.name = "fid-tokenizer",
                    .kind = "eval tokenizer",
                    .words = {"eval", "tokenizer", "--model", tokenizer(), "--data", setting_.data,
                              "--size", std::to_string(setting_.scale.size), "--count",
                              std::to_string(std::min(setting_.samples, setting_.held_out))},
                    .length_option = "--count"});
}

std::vector<std::string> Jobs::start_words(Start start, std::int64_t seed, const Variant& variant) {
  switch (start) {
    case Start::kAddp:
      return {"--model", addp_model(variant, seed)};
    case Start::kMage:
      return {"--model", predictor()};
    case Start::kScratch:
      return {"--preset", setting_.scale.preset, "--patch", std::to_string(setting_.scale.patch)};
    case Start::kScratchTokens:
      return {"--input", "tokens", "--tokenizer", tokenizer(), "--preset", setting_.scale.preset};
    case Start::kScratchResnet:
      return {"--preset", setting_.scale.convolutional};
  }
  return {};
}

std::string Jobs::classifier(Start start, std::int64_t seed, const Variant& variant, double share) {
  if (!setting_.classes) return {};
  const Scale& s = setting_.scale;
  const bool resnet = start == Start::kScratchResnet || variant.name == "resnet";
  const bool scratch = start == Start::kScratch || start == Start::kScratchTokens;
  std::vector<std::string> words = {"--data", setting_.data};
  std::string name = named(fmt::format("classifier-{}", name_of(start)), variant);
  if (share < 1) {
    append(words, {"--label-share", fmt::format("{}", share)});
    name += fmt::format("-labels-{:g}", 100 * share);
  }
  append(words, start_words(start, seed, variant));
  const bool tokens = start == Start::kMage || start == Start::kScratchTokens;
  return train("classifier", seeded(name, seed),
               resnet    ? s.resnet_classifier
               : scratch ? s.scratch
                         : s.classifier,
               setting_.pictures, seed, std::move(words),
               resnet   ? "train classifier with a ResNet"
               : tokens ? "train classifier on tokens"
                        : "train classifier");
}

std::string Jobs::robustness(Start start, std::int64_t seed) {
  if (!setting_.classes) return {};
  const std::string limit = std::to_string(setting_.scale.robustness_pictures);
  return plan_.add({.name = seeded(fmt::format("robustness-{}", name_of(start)), seed),
                    .kind = "eval robustness",
                    .words = {"eval", "robustness", "--model", in_folder(classifier(start, seed)),
                              "--data", setting_.data, "--limit", limit},
                    .length_option = "--limit"});
}

std::string Jobs::probe(Start start, std::int64_t seed, const Variant& variant, std::int64_t block,
                        const std::string& position) {
  if (!setting_.classes) return {};
  if (block == setting_.scale.depth) block = 0;
  std::vector<std::string> words = {"--data", setting_.data};
  append(words, start_words(start, seed, variant));
  std::string name = named(fmt::format("probe-{}", name_of(start)), variant);
  if (block > 0 || position != "mean") {
    append(words, {"--block", std::to_string(block), "--position", position});
    name += fmt::format("-{}-{}", block, position);
  }
  return train("probe", seeded(name, seed), setting_.scale.probe, setting_.pictures, seed,
               std::move(words), start == Start::kMage ? "train probe on tokens" : "train probe");
}

std::string Jobs::detector(Start start, std::int64_t seed) {
  if (setting_.dense_pictures == 0) return {};
  std::vector<std::string> words = {"--data", setting_.dense};
  append(words, start_words(start, seed, {}));
  const bool tokens = start == Start::kMage || start == Start::kScratchTokens;
  return train("detector", seeded(fmt::format("detector-{}", name_of(start)), seed),
               setting_.scale.detector, setting_.dense_pictures, seed, std::move(words),
               tokens ? "train detector on tokens" : "train detector");
}

std::string Jobs::segmenter(Start start, std::int64_t seed) {
  if (setting_.map_pictures == 0) return {};
  std::vector<std::string> words = {"--data", setting_.maps};
  append(words, start_words(start, seed, {}));
  const bool tokens = start == Start::kMage || start == Start::kScratchTokens;
  return train("segmenter", seeded(fmt::format("segmenter-{}", name_of(start)), seed),
               setting_.scale.segmenter, setting_.map_pictures, seed, std::move(words),
               tokens ? "train segmenter on tokens" : "train segmenter");
}

std::string Jobs::samples() {
  return plan_.add({.name = "samples",
                    .kind = "generate",
                    .words = {"generate", "--model", addp_model({}, 1), "--count",
                              std::to_string(setting_.scale.shown), "--grid", "--steps",
                              std::to_string(setting_.scale.sample_steps), "--seed", "1", "--out",
                              in_folder("samples")},
                    .length_option = "--count"});
}

std::string Jobs::trajectory() {
  return plan_.add(
      {.name = "trajectory",
       .kind = "generate with its steps",
       .words = {"generate", "--model", addp_model({}, 1), "--count", "2", "--trajectory",
                 "--schedule", "linear", "--steps", std::to_string(setting_.scale.sample_steps),
                 "--seed", "1", "--out", in_folder("trajectory")}});
}

std::string Jobs::noise() {
  return plan_.add(
      {.name = "noise",
       .kind = "visualize",
       .words = {"visualize", "--data", setting_.data, "--tokenizer", tokenizer(), "--predictor",
                 predictor(), "--count",
                 std::to_string(std::min<std::int64_t>(8, setting_.scale.shown)), "--size",
                 std::to_string(setting_.scale.size), "--out", in_folder("noise")}});
}

std::string Jobs::held_out_picture() {
  const auto dataset = open_dataset(setting_.data, setting_.held_out_split, Task::kPictures);
  const auto side = static_cast<int>(setting_.scale.size);
  const Bytes png = encode_png(middle_square(dataset->get(0).picture(), side));
  return plan_.add_file("held-out", ".png", {png.begin(), png.end()});
}

std::string Jobs::fill(const std::string& name, const std::vector<std::string>& what) {
  std::vector<std::string> words = {
      "inpaint", "--model",          addp_model({}, 1),
      "--image", held_out_picture(), "--count",
      "4",       "--steps",          std::to_string(setting_.scale.sample_steps),
      "--out",   in_folder(name)};
  append(words, what);
  return plan_.add({.name = name, .kind = "inpaint", .words = std::move(words)});
}

}  // namespace addp
