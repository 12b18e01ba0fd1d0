// The public API over the internal folders.
#include <algorithm>

#include "addp/addp.h"
#include "base/error.h"
#include "diffusion/model_io.h"
#include "diffusion/noisy_pixels.h"
#include "generate/sampler.h"
#include "image/codec.h"
#include "image/resize.h"
#include "nn/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

Image to_internal(const Picture& picture) {
  Image image(picture.width, picture.height);
  if (picture.width < 1 || picture.height < 1 || picture.rgb.size() != image.pixels.size()) {
    throw UsageError("a picture of {}x{} pixels needs {} bytes, not {}", picture.width,
                     picture.height, image.pixels.size(), picture.rgb.size());
  }
  image.pixels = picture.rgb;
  return image;
}

Picture to_public(const Image& image) { return {image.width, image.height, image.pixels}; }

std::vector<Picture> to_public(const Tensor& pixels) {
  std::vector<Picture> pictures;
  for (const auto& image : to_images(pixels)) pictures.push_back(to_public(image));
  return pictures;
}

}  // namespace

Picture load_picture(const std::filesystem::path& path) { return to_public(load_image(path)); }

void save_picture(const std::filesystem::path& path, const Picture& picture) {
  save_image(path, to_internal(picture));
}

struct Model::Impl {
  LoadedAddp loaded;

  Grid grid() const { return loaded.network->config().grid; }
  int side() const { return static_cast<int>(grid().width * loaded.tokenizer->factor()); }

  Tensor prepare(const Picture& picture) const {
    const Image image = to_internal(picture);
    const PixelBox middle =
        center_box(image.width, image.height, std::min(image.width, image.height));
    return to_tensor(resize(crop(image, middle), side(), side())).unsqueeze(0);
  }
};

Model::Model(const std::filesystem::path& model, const std::filesystem::path& tokenizer)
    : impl_(std::make_unique<Impl>()) {
  impl_->loaded = load_addp(model, tokenizer);
  if (!impl_->loaded.tokenizer) {
    throw UsageError("{}: has no tokenizer inside; name the tokenizer's file, too", model);
  }
}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

int Model::picture_size() const { return impl_->side(); }

std::vector<Picture> Model::generate(const GenerateRequest& request) const {
  torch::NoGradGuard guard;
  SamplerOptions options;
  options.steps = request.steps;
  options.curve = request.linear_schedule ? MaskCurve::kLinear : MaskCurve::kCosine;
  options.temperature = request.temperature;
  options.temperature_curve =
      request.constant_temperature ? TemperatureCurve::kConstant : TemperatureCurve::kFalling;
  options.top_p = request.top_p;
  std::vector<std::uint64_t> indices;
  for (std::int64_t i = 0; i < request.count; ++i) {
    indices.push_back(static_cast<std::uint64_t>(request.first_index + i));
  }
  StreamNoise noise(request.seed, indices);
  SamplerHooks hooks;
  bool cancelled = false;
  if (request.on_step) {
    hooks.on_step = [&](const SamplerStep& step) {
      cancelled = cancelled || !request.on_step(step.step, step.steps, to_public(step.pixels));
    };
    hooks.cancelled = [&] { return cancelled; };
  }
  const auto start = SamplerStart::nothing(request.count, impl_->grid());
  return to_public(
      addp::generate(*impl_->loaded.network, *impl_->loaded.tokenizer, start, options, noise, hooks)
          .pixels);
}

Picture Model::reconstruct(const Picture& picture) const {
  torch::NoGradGuard guard;
  const Vqgan& tokenizer = *impl_->loaded.tokenizer;
  const Tensor pixels = impl_->prepare(picture);
  return to_public(to_image(tokenizer.decode_ids(tokenizer.encode(pixels), impl_->grid())[0]));
}

std::vector<float> Model::features(const Picture& picture) const {
  torch::NoGradGuard guard;
  const Tensor features =
      impl_->loaded.network->encoder().features(encoder_input(impl_->prepare(picture)));
  const Tensor mean = features[0].slice(0, 1).mean(0).contiguous();  // without the class position
  return {mean.data_ptr<float>(), mean.data_ptr<float>() + mean.numel()};
}

}  // namespace addp
