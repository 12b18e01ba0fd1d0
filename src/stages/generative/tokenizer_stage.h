// Training a VQ tokenizer: reconstruction, LPIPS, codebook losses, a patch discriminator with an
// adaptive weight (Esser et al. 2021), and restarts of dead codes.
#pragma once

#include <memory>
#include <optional>

#include "eval/generation/lpips.h"
#include "feed/picture_feed.h"
#include "stages/generative/codebook_health.h"
#include "stages/generative/tokenizer_options.h"
#include "tokenizer/discriminator.h"
#include "tokenizer/feature_discriminator.h"
#include "tokenizer/vqgan.h"
#include "train/stage.h"

namespace addp {

class TokenizerStage : public Stage {
 public:
  TokenizerStage(const TokenizerTrainOptions& options, World& world);

  std::string name() const override { return "tokenizer"; }
  std::vector<Learner*> learners() override;
  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }
  Metrics step(const StepContext& context) override;
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"psnr", true}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;
  double activation_bytes() const override;

 private:
  struct Reconstruction {
    Tensor pixels, loss, latent;     // loss: everything but the discriminator's part
    Lpips::Features seen, expected;  // of the reconstruction and of the picture
    Tensor counts;                   // [K], how often each code was chosen
    Metrics metrics;
  };
  Reconstruction reconstruct(const Tensor& pixels, const RandomStream& stream);
  Tensor adversarial_term(const Reconstruction& made, Metrics& metrics);
  void make_discriminator(const RandomStream& stream);
  // What the discriminator says of pictures, or of their features.
  std::vector<Tensor> judge(const Tensor& pixels, const Lpips::Features& features);
  void train_discriminator(const Tensor& real, const Reconstruction& made, double share, bool last,
                           Metrics& metrics);
  void rescue_codes(const StepContext& context, const Tensor& latent, Metrics& metrics);
  Tensor rows_of_all(const Tensor& features, const std::vector<std::int64_t>& rows);

  TokenizerTrainOptions options_;
  World& world_;
  PictureFeed feed_;
  std::shared_ptr<Vqgan> network_;
  // One of them where there is a discriminator; `discriminator_` is that one as a module.
  std::shared_ptr<Discriminator> patch_discriminator_;
  std::shared_ptr<FeatureDiscriminator> feature_discriminator_;
  std::shared_ptr<torch::nn::Module> discriminator_;
  std::optional<Lpips> lpips_;
  std::unique_ptr<Learner> generator_learner_, discriminator_learner_;
  CodebookHealth health_;
};

}  // namespace addp
