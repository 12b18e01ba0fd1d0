#include "commands/recognise/features.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_io.h"
#include "base/json_text.h"
#include "checkpoint/format/npy.h"
#include "checkpoint/format/safetensors.h"
#include "commands/recognise/loaded_classifier.h"
#include "data/load/open_dataset.h"
#include "machine/machine.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

struct FeatureEncoder {
  std::shared_ptr<ImageEncoder> network;
  std::int64_t size = 0;
};

std::int64_t trained_size(const ModelFile& file, const BackboneConfig& config,
                          const ImageEncoder& encoder) {
  constexpr std::int64_t kUsual = 224;
  const std::int64_t noted = file.config.value("size", std::int64_t{0});
  if (noted > 0) return noted;
  if (config.input == BackboneInput::kTokens) return config.tokens.grid.width * encoder.stride();
  return config.is_transformer() ? config.encoder.vit.grid.width * encoder.stride() : kUsual;
}

FeatureEncoder open_encoder(const FeaturesOptions& options) {
  const ModelFile file = open_model(options.model, {"addp", "classifier", "predictor"});
  const BackboneConfig config = backbone_config(file);
  std::shared_ptr<const Vqgan> tokenizer;
  if (config.input == BackboneInput::kTokens) {
    tokenizer = options.tokenizer.empty() ? tokenizer_in(file) : load_tokenizer(options.tokenizer);
    if (!tokenizer) {
      throw UsageError("{}: takes tokens and has no tokenizer inside; name one with --tokenizer",
                       options.model);
    }
  }
  FeatureEncoder encoder;
  encoder.network = on_device(make_backbone(config, tokenizer));
  load_backbone(*encoder.network, config, file);
  encoder.network->eval();
  encoder.size = options.size > 0 ? options.size : trained_size(file, config, *encoder.network);
  return encoder;
}

}  // namespace

void run(const FeaturesOptions& options, const RunContext& context) {
  const bool npy = options.out.extension() == ".npy";
  if (!npy && options.out.extension() != ".safetensors") {
    throw UsageError("--out {}: give a name that ends in .safetensors or .npy", options.out);
  }
  make_folder_for(options.out);
  use_machine(options.machine.compute);
  const FeatureEncoder encoder = open_encoder(options);
  const auto dataset = open_dataset(options.data, options.split, Task::kPictures);
  std::vector<Tensor> features, labels;
  nlohmann::json names = nlohmann::json::array();
  const TensorPass pass{.pictures = {.batch = options.machine.batch,
                                     .threads = options.machine.workers,
                                     .label = "features"},
                        .size = encoder.size};
  for_each_batch(dataset, pass, [&](const PictureBatch& batch) {
    features.push_back(
        pool_features(encoder.network->features(normalise_pixels(batch.pixels))).cpu());
    labels.push_back(batch.labels.cpu());
    for (const std::int64_t index : batch.indices) names.push_back(dataset->name(index));
  });
  const Tensor all = torch::cat(features);
  if (npy) {
    write_npy(options.out, to_view(all));
  } else {
    write_safetensors(options.out,
                      {{"features", to_view(all)}, {"labels", to_view(torch::cat(labels))}},
                      {{"names", json_text(names)},
                       {"classes", json_text(nlohmann::json(dataset->class_names()))},
                       {"model", options.model.string()}});
  }
  const nlohmann::json result = {
      {"out", options.out.string()}, {"pictures", all.size(0)}, {"width", all.size(1)}};
  print_stdout(context.json ? json_text(result, 2) + "\n"
                            : fmt::format("{} features of width {}: {}\n", all.size(0), all.size(1),
                                          options.out));
}

}  // namespace addp
