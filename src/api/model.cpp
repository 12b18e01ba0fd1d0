// The public API over the internal folders.
#include <algorithm>

#include "addp/addp.h"
#include "base/error.h"
#include "diffusion/noisy_pixels.h"
#include "generate/edit.h"
#include "image/codec/codec.h"
#include "image/resize/resize.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kMostPictures = 1'000'000;  // all are kept in memory until the end

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
  Generator generator;

  int side() const { return generator.width(); }

  void require_encoder() const {
    if (!generator.is_addp()) {
      throw UsageError("{}: a token predictor sees no pixels; give an ADDP model",
                       generator.source());
    }
  }

  Tensor prepare(const Picture& picture) const {
    const Image image = to_internal(picture);
    const PixelBox middle =
        center_box(image.width, image.height, std::min(image.width, image.height));
    return to_tensor(resize(crop(image, middle), side(), side())).unsqueeze(0);
  }

  GenerationPlan plan_of(const GenerateRequest& request) const {
    if (request.count < 1 || request.count > kMostPictures) {
      throw UsageError("{} pictures: ask for 1 to {} at a time", request.count, kMostPictures);
    }
    GenerationPlan plan;
    plan.seed = request.seed;
    plan.first = request.first_index;
    plan.count = request.count;
    plan.sampler.steps = request.steps;
    plan.sampler.curve = request.linear_schedule ? MaskCurve::kLinear : MaskCurve::kCosine;
    plan.sampler.temperature = request.temperature;
    plan.sampler.temperature_curve =
        request.constant_temperature ? TemperatureCurve::kConstant : TemperatureCurve::kFalling;
    plan.sampler.top_p = request.top_p;
    plan.sampler.fast = request.fast;
    plan.grid = generator.grid_of(request.width, request.height);
    generator.ask_for(request.class_name, request.guidance, plan);
    generator.check(plan.sampler);
    return plan;
  }
};

namespace {

// Forwards steps to the request's callback and stops when it says so.
class Callback {
 public:
  Callback(const GenerateRequest& request, const Generator& generator)
      : request_(request), generator_(generator) {}

  SamplerHooks hooks() {
    if (!request_.on_step) return {};
    SamplerHooks hooks;
    hooks.on_step = [this](const SamplerStep& step) {
      const Tensor pixels = pixels_of(step, generator_.tokenizer());
      cancelled_ = cancelled_ || !request_.on_step(step.step, step.steps, to_public(pixels));
    };
    hooks.cancelled = [this] { return cancelled_; };
    return hooks;
  }

 private:
  const GenerateRequest& request_;
  const Generator& generator_;
  bool cancelled_ = false;
};

}  // namespace

Model::Model(const std::filesystem::path& model, const std::filesystem::path& tokenizer)
    : impl_(new Impl{Generator::open(model, tokenizer)}) {}  // an aggregate, for clang 14
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

int Model::picture_size() const { return impl_->side(); }

std::vector<Picture> Model::generate(const GenerateRequest& request) const {
  torch::NoGradGuard guard;
  const GenerationPlan plan = impl_->plan_of(request);
  Callback callback(request, impl_->generator);
  std::vector<Picture> pictures;
  impl_->generator.sample_all(
      plan,
      [&](std::int64_t, const Tensor& pixels) {
        for (Picture& picture : to_public(pixels)) pictures.push_back(std::move(picture));
      },
      callback.hooks());
  return pictures;
}

std::vector<Picture> Model::fill_in(const Picture& picture, const std::vector<std::uint8_t>& hidden,
                                    const GenerateRequest& request) const {
  torch::NoGradGuard guard;
  impl_->require_encoder();
  EditTask task{to_internal(picture), GrayImage(picture.width, picture.height)};
  if (hidden.size() != task.hidden.pixels.size()) {
    throw UsageError("a mask for {}x{} pixels has as many bytes, not {}", picture.width,
                     picture.height, hidden.size());
  }
  task.hidden.pixels = hidden;
  EditOptions options;
  options.generation = impl_->plan_of(request);
  options.fill.passes = request.passes;
  options.fill.match = request.match;
  Callback callback(request, impl_->generator);
  std::vector<Picture> variants;
  for (const Image& image : addp::fill_in(task, impl_->generator, options, callback.hooks())) {
    variants.push_back(to_public(image));
  }
  return variants;
}

Picture Model::reconstruct(const Picture& picture) const {
  torch::NoGradGuard guard;
  const Vqgan& tokenizer = impl_->generator.tokenizer();
  const Tensor pixels = impl_->prepare(picture).to(tokenizer.codebook().device());
  return to_public(
      to_image(tokenizer.decode_ids(tokenizer.encode(pixels), impl_->generator.grid())[0]));
}

std::vector<float> Model::features(const Picture& picture) const {
  torch::NoGradGuard guard;
  impl_->require_encoder();
  const Tensor pixels =
      impl_->prepare(picture).to(impl_->generator.tokenizer().codebook().device());
  const Tensor features = impl_->generator.addp().encoder().features(encoder_input(pixels));
  // without the class position
  const Tensor mean = features[0].slice(0, 1).mean(0).to(torch::kCPU, torch::kFloat32).contiguous();
  return {mean.data_ptr<float>(), mean.data_ptr<float>() + mean.numel()};
}

}  // namespace addp
