#include "eval/generation/tokenizer_report.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "eval/generation/picture_metrics.h"
#include "eval/generation/stored_pictures.h"
#include "image/resize/resize.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

Image whole_tokens(const Image& image, int factor) {
  const int width = image.width / factor * factor, height = image.height / factor * factor;
  if (width == image.width && height == image.height) return image;
  return crop(image, {(image.width - width) / 2, (image.height - height) / 2, width, height});
}

// Sums over all pictures; pictures of one size go through the network together.
class TokenizerTally {
 public:
  TokenizerTally(const Vqgan& tokenizer, const TokenizerEvaluation& options,
                 const std::string& source, Reconstructions* shown)
      : tokenizer_(tokenizer), options_(options), shown_(shown) {
    figures_.counts = torch::zeros({tokenizer.config().codes}, torch::kInt64);
    if (options.inception != nullptr) {
      real_.emplace(*options.inception, kKeptFeatures, FeatureProvenance{"", source, "none"});
      made_.emplace(*options.inception, kKeptFeatures,
                    FeatureProvenance{"", "reconstructions of " + source, "none"});
    }
  }

  void add(std::span<const Image> images) {
    std::vector<Image> group;
    for (const auto& image : images) {
      if (std::min(image.width, image.height) < least_side()) {
        ++left_out_;
        continue;
      }
      Image cut = whole_tokens(image, static_cast<int>(tokenizer_.factor()));
      if (!group.empty() && (group[0].width != cut.width || group[0].height != cut.height)) {
        measure(group);
        group.clear();
      }
      group.push_back(std::move(cut));
    }
    if (!group.empty()) measure(group);
  }

  TokenizerFigures finish() {
    const auto count = static_cast<double>(std::max<std::int64_t>(1, figures_.pictures));
    figures_.psnr /= count;
    figures_.ssim /= count;
    if (figures_.lpips) *figures_.lpips /= static_cast<double>(lpips_pictures_);
    if (left_out_ > 0) {
      warn("{} pictures with a side under {} pixels were left out", left_out_, least_side());
    }
    if (real_ && figures_.pictures > 0) {
      figures_.rfid = compare_sets(std::move(*made_).finish(), std::move(*real_).finish());
    }
    return std::move(figures_);
  }

 private:
  // A picture of whole tokens in which SSIM's window has room.
  int least_side() const {
    const auto factor = static_cast<int>(tokenizer_.factor());
    return (kSsimWindow + factor - 1) / factor * factor;
  }

  void measure(const std::vector<Image>& images) {
    const Tensor pixels = to_tensor(images).to(compute_device());
    const Tensor ids = tokenizer_.encode(pixels);
    const Tensor rebuilt =
        stored_bytes(tokenizer_.decode_ids(ids, tokenizer_.grid_of(pixels)), options_.stored);
    const Tensor original = to_bytes(pixels);
    figures_.counts += torch::bincount(ids.flatten().cpu(), {}, figures_.counts.size(0));
    // A picture that comes back exactly has no finite PSNR; 100 dB stands for it.
    figures_.psnr += psnr(original, rebuilt).clamp_max(100).sum().item<double>();
    figures_.ssim += ssim(original, rebuilt).sum().item<double>();
    if (options_.lpips != nullptr && std::min(pixels.size(2), pixels.size(3)) >= kLpipsMinSide) {
      const Tensor distance =
          (*options_.lpips)(pixels * 2 - 1, rebuilt.to(torch::kFloat32) / 127.5 - 1);
      figures_.lpips = figures_.lpips.value_or(0) + distance.sum().item<double>();
      lpips_pictures_ += pixels.size(0);
    }
    if (real_) {
      real_->add(original);
      made_->add(rebuilt);
    }
    figures_.pictures += pixels.size(0);
    keep(images, rebuilt);
  }

  void keep(const std::vector<Image>& images, const Tensor& rebuilt) {
    for (std::size_t i = 0; shown_ != nullptr && i < images.size() &&
                            static_cast<std::int64_t>(shown_->originals.size()) < options_.shown;
         ++i) {
      shown_->originals.push_back(images[i]);
      shown_->rebuilt.push_back(
          to_image(rebuilt[static_cast<std::int64_t>(i)].to(torch::kFloat32) / 255));
    }
  }

  const Vqgan& tokenizer_;
  TokenizerEvaluation options_;
  Reconstructions* shown_;
  TokenizerFigures figures_;
  std::optional<FeatureCollector> real_, made_;
  std::int64_t lpips_pictures_ = 0, left_out_ = 0;
};

}  // namespace

TokenizerFigures evaluate_tokenizer(const Vqgan& tokenizer, const PictureSetOptions& pictures,
                                    const TokenizerEvaluation& options, Reconstructions* shown) {
  torch::NoGradGuard guard;
  TokenizerTally tally(tokenizer, options, pictures.data, shown);
  for_each_picture(pictures, options.batch, "reconstruct",
                   [&](std::span<const Image> images) { tally.add(images); });
  TokenizerFigures figures = tally.finish();
  if (figures.pictures == 0) {
    throw DataError("{}: there are no pictures in there that could be measured", pictures.data);
  }
  return figures;
}

}  // namespace addp
