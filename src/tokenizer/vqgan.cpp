#include "tokenizer/vqgan.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "machine/precision.h"
#include "model/init.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor unit(const Tensor& x, std::int64_t dim) {
  return x / x.norm(2, {dim}, /*keepdim=*/true).clamp_min(1e-12);
}

// Where no gradient is asked for, a processor takes pictures a few at a time: memory does not
// grow with the batch. `pixels` is of one picture.
template <class Network>
Tensor in_portions(const Tensor& batch, std::int64_t pixels, const Network& network) {
  constexpr std::int64_t kBytes = 256 * 256 * 4;  // of a channel
  const auto bytes = pixels * static_cast<std::int64_t>(c10::elementSize(product_type(batch)));
  const std::int64_t portion = kBytes / std::clamp<std::int64_t>(bytes, 1, kBytes);
  if (!batch.is_cpu() || at::GradMode::is_enabled() || batch.size(0) <= portion) {
    return network(batch);
  }
  std::vector<Tensor> results;
  for (const Tensor& part : batch.split(portion)) results.push_back(network(part));
  return at::cat(results);
}

}  // namespace

Tensor to_grid(const Tensor& rows, const Grid& grid) {
  return rows.view({rows.size(0), grid.height, grid.width, rows.size(2)}).permute({0, 3, 1, 2});
}

Codebook::Codebook(const VqganConfig& config)
    : embedding(register_module("embedding",
                                std::make_shared<Embedding>(config.codes, config.code_width))),
      unit_(config.unit_codes) {}

Tensor Codebook::vectors() const { return unit_ ? unit(embedding->weight, 1) : embedding->weight; }

Tensor Codebook::nearest(const Tensor& latent) const {
  torch::NoGradGuard no_grad;
  // In bfloat16 many codes would be equally near.
  const c10::impl::ExcludeDispatchKeyGuard full_precision(c10::autocast_dispatch_keyset);
  const Tensor codes = vectors().to(torch::kFloat32);
  const Tensor features =
      latent.permute({0, 2, 3, 1}).reshape({-1, codes.size(1)}).to(torch::kFloat32);
  // |z - e|^2 without |z|^2, which is the same for all codes.
  const Tensor distances = at::addmm(codes.square().sum(1), features, codes.t(), 1, -2);
  return distances.argmin(1).view({latent.size(0), -1});
}

Vqgan::Vqgan(const VqganConfig& config) : config_(config) {
  check(config);
  encoder_ = register_module("encoder", std::make_shared<VqganEncoder>(config));
  decoder_ = register_module("decoder", std::make_shared<VqganDecoder>(config));
  quantize_ = register_module("quantize", std::make_shared<Codebook>(config));
}

Grid Vqgan::grid_of(const Tensor& pixels) const {
  const std::int64_t height = pixels.size(-2), width = pixels.size(-1);
  if (height < 1 || width < 1 || height % factor() != 0 || width % factor() != 0) {
    throw UsageError("a picture of {}x{} pixels cannot be cut into tokens of {}: resize or crop it",
                     width, height, factor());
  }
  return {height / factor(), width / factor()};
}

void Vqgan::forget_encoder() {
  if (!encoder_) return;
  unregister_module("encoder");
  encoder_.reset();
}

Tensor Vqgan::latent(const Tensor& pixels) const {
  if (!encoder_) throw UsageError("this tokenizer was opened to make pictures, not to read them");
  grid_of(pixels);
  const Tensor features = encoder_->forward(pixels);
  return config_.unit_codes ? unit(features, 1) : features;
}

Tensor Vqgan::encode(const Tensor& pixels) const {
  return in_portions(pixels, pixels.size(-2) * pixels.size(-1),
                     [&](const Tensor& part) { return quantize_->nearest(latent(part)); });
}

Tensor Vqgan::embed(const Tensor& ids, const Grid& grid) const {
  return to_grid(at::embedding(quantize_->vectors(), ids), grid);
}

Tensor Vqgan::decode(const Tensor& embeddings) const {
  constexpr std::int64_t kLarge = 256 * 256;  // pictures whose layers are large beside the weights
  const std::int64_t pixels = embeddings.size(-2) * embeddings.size(-1) * factor() * factor();
  return in_portions(embeddings, pixels, [&](const Tensor& part) {
    if (pixels >= kLarge) spare_memory(part);
    return decoder_->forward(part);
  });
}

Tensor Vqgan::decode_ids(const Tensor& ids, const Grid& grid) const {
  return decode(embed(ids, grid));
}

Quantized Vqgan::quantize(const Tensor& latent) const {
  Quantized result;
  result.ids = quantize_->nearest(latent);
  const Tensor codes = embed(result.ids, {latent.size(2), latent.size(3)});
  result.codebook_loss = at::mse_loss(codes, latent.detach());
  result.commitment_loss = at::mse_loss(latent, codes.detach());
  result.embeddings = latent + (codes - latent).detach();
  return result;
}

namespace {

// Pictures start as plain grey, and the pixels that one cell becomes start alike: otherwise the
// network spends its first epochs on unlearning a chequered pattern.
void start_grey(Vqgan& tokenizer) {
  auto parameters = tokenizer.named_parameters();
  const Tensor weight = parameters["decoder.conv_out.weight"].data();  // [3 S S, C, 3, 3]
  const std::int64_t pixels = weight.size(0) / 3;
  weight.copy_(weight.slice(0, 0, weight.size(0), pixels).repeat_interleave(pixels, 0) * 0.5);
  parameters["decoder.conv_out.bias"].data().fill_(0.5);
}

}  // namespace

void Vqgan::start_codes_on(const Tensor& pixels) {
  torch::NoGradGuard guard;
  const auto parameters = named_parameters();
  parameters["encoder.conv_out.bias"].data().sub_(encoder_->forward(pixels).mean({0, 2, 3}));
  const Tensor features = latent(pixels).permute({0, 2, 3, 1}).flatten(0, 2);  // [N, D]
  const Tensor codes = parameters["quantize.embedding.weight"].data();
  if (features.size(0) < codes.size(0)) return;  // too few pictures for every code
  const Tensor rows = torch::arange(codes.size(0), features.options().dtype(torch::kLong)) *
                      features.size(0) / codes.size(0);
  codes.copy_(features.index_select(0, rows.to(torch::kLong)));
}

namespace {

// The finish starts by adding nothing.
void start_without_finish(Vqgan& tokenizer) {
  for (const auto& item : tokenizer.named_parameters()) {
    if (item.key().starts_with("decoder.finish.conv_out.")) item.value().data().zero_();
  }
}

}  // namespace

std::shared_ptr<Vqgan> with_ending(const Vqgan& tokenizer, const VqganConfig& ending,
                                   const RandomStream& stream) {
  torch::NoGradGuard guard;
  VqganConfig config = tokenizer.config();
  config.finish = ending.finish;
  config.half_chroma = ending.half_chroma;
  check(config);
  const Tensor codes = tokenizer.codebook();
  auto made = std::make_shared<Vqgan>(config);
  initialise_vqgan(*made, stream);
  made->to(codes.device());
  const auto weights = tokenizer.named_parameters();
  for (const auto& item : made->named_parameters()) {
    if (const Tensor* found = weights.find(item.key())) item.value().copy_(*found);
  }
  return made;
}

void initialise_vqgan(Vqgan& tokenizer, const RandomStream& stream) {
  initialise(tokenizer, stream);
  const VqganConfig& config = tokenizer.config();
  const Tensor codes = tokenizer.named_parameters()["quantize.embedding.weight"];
  // Convolutions as wide as inputs of unit size need them: the residual branches start small.
  for (const auto& item : tokenizer.named_parameters()) {
    if (item.value().dim() == 4) item.value().data().mul_(std::sqrt(1.0 / 6.0));
  }
  start_grey(tokenizer);
  start_without_finish(tokenizer);
  // On the sphere the length is immaterial; else codes start near the origin (van den Oord
  // et al. 2017).
  const double bound = config.unit_codes ? 1.0 : 1.0 / static_cast<double>(config.codes);
  fill_uniform(codes, -bound, bound, stream.fork("codebook"));
}

}  // namespace addp
