#include "feed/class_condition.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "nn/torch.h"

namespace addp {

Vocabulary vocabulary_for(const Vqgan& tokenizer, const TokenOptions& options,
                          const Dataset& dataset, std::int64_t unconditional_ids) {
  const std::int64_t codes = tokenizer.config().codes;
  if (!options.class_conditional) return {codes, unconditional_ids};
  if (dataset.class_names().empty()) {
    throw UsageError("--class-conditional needs classes, and {} has none", dataset.description());
  }
  return {codes, static_cast<std::int64_t>(dataset.class_names().size()) + 1};
}

Tensor class_ids_of(const Tensor& labels, const Vocabulary& vocabulary, const TokenOptions& options,
                    const RandomStream* stream, std::int64_t first) {
  if (!options.class_conditional || !labels.defined()) return {};
  const Tensor ids = torch::empty({labels.size(0)}, torch::kInt64);
  const Tensor on_cpu = labels.cpu();
  const auto label = on_cpu.accessor<std::int64_t, 1>();
  auto id = ids.accessor<std::int64_t, 1>();
  for (std::int64_t i = 0; i < ids.size(0); ++i) {
    const bool dropped =
        stream != nullptr &&
        stream->fork("class", static_cast<std::uint64_t>(first + i)).chance(options.class_drop);
    id[i] = dropped || label[i] < 0 || label[i] >= vocabulary.classes()
                ? vocabulary.class_position_id()
                : vocabulary.class_id(label[i]);
  }
  return ids.to(labels.device());
}

std::string with_class_names(const std::string& provenance, const TokenOptions& options,
                             const Dataset& dataset) {
  if (!options.class_conditional) return provenance;
  nlohmann::json json = nlohmann::json::parse(provenance);
  json["classes"] = dataset.class_names();
  return json_text(json);
}

}  // namespace addp
