#include "commands/recognise/features.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "checkpoint/format/npy.h"
#include "checkpoint/format/safetensors.h"
#include "commands/recognise/loaded_classifier.h"
#include "data/load/open_dataset.h"
#include "heads/backbone/feature_encoder.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {
void run(const FeaturesOptions& options, const RunContext& context) {
  const bool npy = options.out.extension() == ".npy";
  if (!npy && options.out.extension() != ".safetensors") {
    throw UsageError("--out {}: give a name that ends in .safetensors or .npy", options.out);
  }
  make_folder_for(options.out);
  use_machine(options.machine.compute);
  FeatureEncoder encoder = open_feature_encoder(options.model, options.tokenizer);
  if (options.size > 0) encoder.size = options.size;
  const auto dataset = open_dataset(options.data, options.split, Task::kPictures);
  std::vector<Tensor> features, labels;
  nlohmann::json names = nlohmann::json::array();
  const TensorPass pass{.pictures = {.batch = options.machine.batch,
                                     .threads = options.machine.workers,
                                     .label = "features"},
                        .size = encoder.size};
  for_each_batch(dataset, pass, [&](const PictureBatch& batch) {
    features.push_back(encoder.of(batch.pixels).cpu());
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
  context.write_configuration_beside(options.out);
  const nlohmann::json result = {
      {"out", options.out.string()}, {"pictures", all.size(0)}, {"width", all.size(1)}};
  print_stdout(context.json ? json_text(result, 2) + "\n"
                            : fmt::format("{} features of width {}: {}\n", all.size(0), all.size(1),
                                          options.out));
}

}  // namespace addp
