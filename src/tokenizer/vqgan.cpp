#include "tokenizer/vqgan.h"

#include "base/error.h"
#include "nn/init.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor unit(const Tensor& x, std::int64_t dim) {
  return x / x.norm(2, {dim}, /*keepdim=*/true).clamp_min(1e-12);
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

Tensor Vqgan::latent(const Tensor& pixels) const {
  grid_of(pixels);
  const Tensor features = encoder_->forward(pixels);
  return config_.unit_codes ? unit(features, 1) : features;
}

Tensor Vqgan::encode(const Tensor& pixels) const { return quantize_->nearest(latent(pixels)); }

Tensor Vqgan::embed(const Tensor& ids, const Grid& grid) const {
  return to_grid(at::embedding(quantize_->vectors(), ids), grid);
}

Tensor Vqgan::decode(const Tensor& embeddings) const { return decoder_->forward(embeddings); }

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

void initialise_vqgan(Vqgan& tokenizer, const RandomStream& stream) {
  initialise(tokenizer, stream);
  const VqganConfig& config = tokenizer.config();
  const Tensor codes = tokenizer.named_parameters()["quantize.embedding.weight"];
  // On the sphere the length is immaterial; else codes start near the origin (van den Oord et al.
  // 2017).
  const double bound = config.unit_codes ? 1.0 : 1.0 / static_cast<double>(config.codes);
  fill_uniform(codes, -bound, bound, stream.fork("codebook"));
}

}  // namespace addp
