#include "model/whole/parameter_report.h"

#include "nn/torch.h"
#include "tokenizer/vqgan.h"

namespace addp {
namespace {

// Parameters whose names begin with one of `prefixes`.
std::int64_t count(const torch::nn::Module& network, std::initializer_list<const char*> prefixes) {
  std::int64_t total = 0;
  for (const auto& item : network.named_parameters()) {
    for (const char* prefix : prefixes) {
      if (item.key().starts_with(prefix)) total += item.value().numel();
    }
  }
  return total;
}

}  // namespace

ParameterReport parameter_report(const AddpConfig& addp, const VqganConfig& tokenizer,
                                 const MageConfig& predictor) {
  const Addp network(addp);
  const Vqgan vqgan(tokenizer);
  const std::int64_t encoder = count(network, {"encoder."});
  const std::int64_t projection = count(network, {"decoder_embed."});
  const std::int64_t decoder = parameter_count(network) - encoder - projection;
  const std::int64_t vq_decoder = count(vqgan, {"decoder."});
  ParameterReport report;
  report.parts = {{"image encoder", encoder},
                  {"projection into the decoder", projection},
                  {"token decoder", decoder},
                  {"VQ decoder", vq_decoder},
                  {"VQ encoder", count(vqgan, {"encoder."})},
                  {"codebook", count(vqgan, {"quantize."})},
                  {"token predictor (training only)", parameter_count(Mage(predictor))}};
  report.recognition = encoder + projection;
  report.generation = decoder + vq_decoder;
  return report;
}

}  // namespace addp
