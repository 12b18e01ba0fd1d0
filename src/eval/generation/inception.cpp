#include "eval/generation/inception.h"

#include <fmt/ranges.h>

#include <array>

#include "base/error.h"
#include "base/file/sha256.h"
#include "checkpoint/layout/checkpoint.h"
#include "machine/machine.h"
#include "machine/parallel.h"
#include "model/load.h"
#include "nn/kernel/winograd.h"
#include "nn/torch.h"
#include "weights/inception_layers.h"

namespace addp {
namespace {

constexpr double kNormEpsilon = 1e-3;
// Large enough to feed the convolutions, small enough that the 147x147 maps stay below 100 MB.
constexpr std::int64_t kBatch = 8;

constexpr std::array<const char*, 4> kNormParts = {"weight", "bias", "running_mean", "running_var"};

std::map<std::string, std::vector<std::int64_t>> expected_shapes(bool with_classifier) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const InceptionLayer& layer : inception_layers()) {
    const std::string key = layer.name;
    shapes[key + ".conv.weight"] = {layer.out, layer.in, layer.kernel_height, layer.kernel_width};
    for (const char* part : kNormParts) shapes[key + ".bn." + part] = {layer.out};
  }
  if (with_classifier) {
    shapes["fc.weight"] = {kInceptionClasses, kInceptionFeatures};
    shapes["fc.bias"] = {kInceptionClasses};
  }
  return shapes;
}

// Everything about the file is checked before any of it is converted.
void check_weights(const TensorMap& weights, const std::string& file) {
  const auto shapes = expected_shapes(weights.contains("fc.weight"));
  for (const auto& [key, shape] : shapes) {
    const auto found = weights.find(key);
    if (found == weights.end()) {
      throw DataError("{}: has no '{}', so it is not the FID network; fetch its file again", file,
                      key);
    }
    if (found->second.shape != shape) {
      throw DataError("{}: '{}' has shape {}, but the FID network has {}", file, key,
                      fmt::join(found->second.shape, "x"), fmt::join(shape, "x"));
    }
  }
  for (const auto& [key, _] : weights) {
    if (shapes.contains(key) || key.ends_with(".bn.num_batches_tracked")) continue;
    throw DataError("{}: holds '{}', which the FID network does not have; this is another network",
                    file, key);
  }
}

Tensor average_pool(const Tensor& x) {
  return torch::avg_pool2d(x, 3, 1, 1, false, /*count_include_pad=*/false);
}

Tensor halve(const Tensor& x) { return torch::max_pool2d(x, 3, 2); }

Tensor mean_of(const Tensor& x) { return x.mean({2, 3}, /*keepdim=*/false, torch::kFloat32); }

struct Interpolation {
  std::vector<std::int64_t> low, high;
  std::vector<float> weight;  // of `high`
};

Interpolation interpolation(std::int64_t in, std::int64_t out) {
  Interpolation result;
  const float scale = float(in) / float(out);  // TensorFlow computes the grid in float
  for (std::int64_t i = 0; i < out; ++i) {
    const float source = float(i) * scale;
    const auto low = std::min(std::int64_t(source), in - 1);
    result.low.push_back(low);
    result.high.push_back(std::min(low + 1, in - 1));
    result.weight.push_back(source - float(low));
  }
  return result;
}

// Eight-bit values at any distance from each other: planar tensors and interleaved pictures alike.
struct PictureView {
  const std::uint8_t* data;
  std::int64_t height, width;
  std::int64_t channel_step, row_step, pixel_step;
};

// To [size, size, 3].
void resize_picture(const PictureView& picture, std::int64_t size, float* out) {
  const Interpolation rows = interpolation(picture.height, size);
  const Interpolation columns = interpolation(picture.width, size);
  const std::int64_t step = picture.pixel_step;
  for (std::int64_t y = 0; y < size; ++y) {
    const auto row = std::size_t(y);
    const std::uint8_t* top = picture.data + rows.low[row] * picture.row_step;
    const std::uint8_t* bottom = picture.data + rows.high[row] * picture.row_step;
    for (std::int64_t x = 0; x < size; ++x) {
      const auto column = std::size_t(x);
      const std::int64_t left = columns.low[column] * step, right = columns.high[column] * step;
      const float t = columns.weight[column];
      for (std::int64_t c = 0; c < 3; ++c) {
        const std::int64_t at = c * picture.channel_step;
        const float tl = top[at + left], bl = bottom[at + left];
        const float above = tl + (float(top[at + right]) - tl) * t;
        const float below = bl + (float(bottom[at + right]) - bl) * t;
        *out++ = (above + (below - above) * rows.weight[row] - 128.0F) / 128.0F;
      }
    }
  }
}

// All pictures, on all threads; `view(i)` describes the i-th.
template <class View>
Tensor resize_pictures(std::int64_t count, std::int64_t size, const View& view) {
  auto out = torch::empty({count, size, size, 3});
  auto* values = out.template mutable_data_ptr<float>();
  for_parts(count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      resize_picture(view(i), size, values + i * size * size * 3);
  });
  return out.permute({0, 3, 1, 2});
}

}  // namespace

Tensor inception_input(const Tensor& pictures, std::int64_t size) {
  if (pictures.dim() != 4 || pictures.size(1) != 3 || pictures.scalar_type() != torch::kByte ||
      pictures.size(2) < 1 || pictures.size(3) < 1) {
    throw UsageError("the FID network takes uint8 pictures [B, 3, H, W], not {} of {}",
                     fmt::join(pictures.sizes(), "x"), c10::toString(pictures.scalar_type()));
  }
  const auto source = pictures.cpu().contiguous();
  const std::int64_t height = source.size(2), width = source.size(3);
  const auto* bytes = source.const_data_ptr<std::uint8_t>();
  return resize_pictures(source.size(0), size, [&](std::int64_t i) {
    return PictureView{bytes + i * 3 * height * width, height, width, height * width, width, 1};
  });
}

Tensor inception_input(std::span<const Image> pictures, std::int64_t size) {
  for (const Image& picture : pictures) {
    if (picture.empty()) throw UsageError("the FID network was given an empty picture");
  }
  return resize_pictures(std::int64_t(pictures.size()), size, [&](std::int64_t i) {
    const Image& picture = pictures[std::size_t(i)];
    return PictureView{picture.pixels.data(),
                       picture.height,
                       picture.width,
                       1,
                       std::int64_t{3} * picture.width,
                       3};
  });
}

InceptionNetwork InceptionNetwork::open(const std::filesystem::path& path, bool bf16) {
  InceptionNetwork network(open_checkpoint(path).tensors, path.string(), bf16);
  network.hash_ = FileDigest(path).hex() + (bf16 ? "+bf16" : "");
  return network;
}

InceptionNetwork::InceptionNetwork(const TensorMap& weights, std::string name, bool bf16)
    : type_(bf16 ? torch::kBFloat16 : torch::kFloat32), name_(std::move(name)) {
  check_weights(weights, name_);
  for (const InceptionLayer& layer : inception_layers()) {
    const std::string key = layer.name;
    const auto norm = [&](const char* part) {
      return to_torch(weights.at(key + ".bn." + part)).to(torch::kDouble);
    };
    // BN(Wx) = (gamma / sqrt(var + eps)) (Wx - mean) + beta
    const auto scale = norm("weight") / torch::sqrt(norm("running_var") + kNormEpsilon);
    const auto bias = norm("bias") - norm("running_mean") * scale;
    const auto kernel = to_torch(weights.at(key + ".conv.weight")).to(torch::kDouble);
    std::vector<std::int64_t> padding = {0, 0};
    if (layer.same_padding) padding = {(layer.kernel_height - 1) / 2, (layer.kernel_width - 1) / 2};
    convolutions_[key] = {(kernel * scale.view({-1, 1, 1, 1}))
                              .to(compute_device(), type_)
                              .contiguous(torch::MemoryFormat::ChannelsLast),
                          bias.to(compute_device(), type_), layer.stride, padding};
  }
  if (weights.contains("fc.weight")) {
    fc_weight_ = to_torch(weights.at("fc.weight")).to(torch::kFloat);
  }
}

Tensor InceptionNetwork::conv(const std::string& name, const Tensor& x) const {
  const Convolution& c = convolutions_.at(name);
  if (c.stride != 1 || !suits_winograd(x, c.weight)) {
    return torch::conv2d(x, c.weight, c.bias, c.stride, c.padding).relu_();
  }
  const Tensor padded = winograd_convolution(x, c.weight, c.bias);
  if (c.padding.front() == 1) return padded.relu_();
  return padded.slice(2, 1, -1).slice(3, 1, -1).relu();
}

Tensor InceptionNetwork::chain(const std::string& prefix, std::initializer_list<const char*> names,
                               Tensor x) const {
  for (const char* name : names) x = conv(prefix + "." + name, x);
  return x;
}

Tensor InceptionNetwork::block_a(const std::string& name, const Tensor& x) const {
  return torch::cat({chain(name, {"branch1x1"}, x), chain(name, {"branch5x5_1", "branch5x5_2"}, x),
                     chain(name, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}, x),
                     chain(name, {"branch_pool"}, average_pool(x))},
                    1);
}

Tensor InceptionNetwork::block_b(const std::string& name, const Tensor& x) const {
  return torch::cat(
      {chain(name, {"branch3x3"}, x),
       chain(name, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}, x), halve(x)},
      1);
}

Tensor InceptionNetwork::block_c(const std::string& name, const Tensor& x) const {
  return torch::cat(
      {chain(name, {"branch1x1"}, x), chain(name, {"branch7x7_1", "branch7x7_2", "branch7x7_3"}, x),
       chain(name,
             {"branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4",
              "branch7x7dbl_5"},
             x),
       chain(name, {"branch_pool"}, average_pool(x))},
      1);
}

Tensor InceptionNetwork::block_d(const std::string& name, const Tensor& x) const {
  return torch::cat(
      {chain(name, {"branch3x3_1", "branch3x3_2"}, x),
       chain(name, {"branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"}, x),
       halve(x)},
      1);
}

Tensor InceptionNetwork::block_e(const std::string& name, const Tensor& x, bool max_pooling) const {
  const auto wide = chain(name, {"branch3x3_1"}, x);
  const auto deep = chain(name, {"branch3x3dbl_1", "branch3x3dbl_2"}, x);
  const auto pooled = max_pooling ? torch::max_pool2d(x, 3, 1, 1) : average_pool(x);
  return torch::cat({chain(name, {"branch1x1"}, x), chain(name, {"branch3x3_2a"}, wide),
                     chain(name, {"branch3x3_2b"}, wide), chain(name, {"branch3x3dbl_3a"}, deep),
                     chain(name, {"branch3x3dbl_3b"}, deep), chain(name, {"branch_pool"}, pooled)},
                    1);
}

// `x` is what inception_input gives, [B, 3, 299, 299]. Features are on the CPU.
Tensor InceptionNetwork::pool_features(Tensor x, InceptionTaps* taps) const {
  x = x.to(compute_device(), type_);
  for (const char* name : {"Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3"}) x = conv(name, x);
  x = halve(x);  // [B, 64, 73, 73]
  if (taps != nullptr) taps->features64 = mean_of(x);
  x = halve(conv("Conv2d_4a_3x3", conv("Conv2d_3b_1x1", x)));  // [B, 192, 35, 35]
  if (taps != nullptr) taps->features192 = mean_of(x);
  for (const char* name : {"Mixed_5b", "Mixed_5c", "Mixed_5d"}) x = block_a(name, x);
  x = block_b("Mixed_6a", x);  // [B, 768, 17, 17]
  for (const char* name : {"Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"}) x = block_c(name, x);
  if (taps != nullptr) taps->features768 = mean_of(x);
  x = block_d("Mixed_7a", x);  // [B, 1280, 8, 8]
  x = block_e("Mixed_7b", x, false);
  return mean_of(block_e("Mixed_7c", x, true)).cpu();  // [B, 2048]
}

InceptionOutput InceptionNetwork::output_of(const std::vector<Tensor>& parts) const {
  InceptionOutput output;
  output.pool = parts.empty() ? torch::empty({0, kInceptionFeatures}) : torch::cat(parts);
  if (has_classifier()) output.logits_unbiased = output.pool.matmul(fc_weight_.t());
  return output;
}

InceptionOutput InceptionNetwork::operator()(const Tensor& pictures, InceptionTaps* taps) const {
  const torch::NoGradGuard no_grad;
  if (taps != nullptr) return output_of({pool_features(inception_input(pictures), taps)});
  std::vector<Tensor> parts;
  for (const auto& part : pictures.split(kBatch)) {
    parts.push_back(pool_features(inception_input(part), nullptr));
  }
  return output_of(parts);
}

InceptionOutput InceptionNetwork::operator()(std::span<const Image> pictures) const {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> parts;
  for (std::size_t start = 0; start < pictures.size(); start += kBatch) {
    const auto part =
        pictures.subspan(start, std::min<std::size_t>(kBatch, pictures.size() - start));
    parts.push_back(pool_features(inception_input(part), nullptr));
  }
  return output_of(parts);
}

}  // namespace addp
