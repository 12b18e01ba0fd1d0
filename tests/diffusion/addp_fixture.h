// ADDP and its frozen networks out of a fixture folder, with the head counts that fit
// the recorded answers.
#pragma once

#include "diffusion/addp_file.h"
#include "diffusion/algorithm1.h"
#include "diffusion/noisy_pixels.h"
#include "nn/layer/rows.h"
#include "support/network_fixture.h"

namespace addp::testing {

struct AddpFixture {
  Tensors want;  // train_step.safetensors
  Grid grid;
  std::shared_ptr<Vqgan> tokenizer;
  std::shared_ptr<Mage> predictor;
  std::shared_ptr<Addp> addp;
  LoadReport report;
  ReliableTokens z_t;
  MaskPair masks;

  explicit AddpFixture(const std::filesystem::path& folder)
      : want(load_tensors(folder / "train_step.safetensors")),
        tokenizer(load_tokenizer(folder / "vqgan.ckpt")) {
    torch::NoGradGuard no_grad;
    grid = tokenizer->grid_of(want.at("image"));
    masks = {as_mask(want.at("mask_t")), as_mask(want.at("mask_next"))};
    z_t = {want.at("z0_indices"), masks.current, grid};
    load_fitting_predictor(folder);
    load_fitting_addp(folder);
  }

  // What the released program records as x_t is the VQ decoder's output, not clamped.
  Tensor encoder_out() { return addp->encode(encoder_input(want.at("x_t")), z_t); }
  Tensor decoded() { return addp->decode(wanted_encoder_out(), z_t); }
  // It records all positions. Ours computes those that something depends on: the encoder's at
  // reliable ones, the predictor's and the decoder's at unreliable ones.
  Tensor wanted_encoder_out() const {
    return pick_rows(want.at("encoder_out"), z_t.positions() + 1);
  }
  Tensor wanted_logits() const {
    return pick_rows(want.at("logits"), positions_of(z_t.masked) + 1);
  }
  Tensor unreliable_cells(const char* name) const {  // of a recorded [B, C, h, w]
    return pick_rows(want.at(name).flatten(2).transpose(1, 2), positions_of(z_t.masked));
  }

 private:
  void load_fitting_predictor(const std::filesystem::path& folder) {
    const MageConfig usual = load_predictor(folder / "mage.pth")->config();
    std::vector<std::pair<std::int64_t, std::int64_t>> candidates;
    for (const auto encoder : possible_heads(folder, "predictor_heads", usual.heads, usual.width)) {
      for (const auto decoder : possible_heads(folder, "predictor_decoder_heads",
                                               usual.decoder_heads, usual.decoder_width)) {
        candidates.emplace_back(encoder, decoder);
      }
    }
    const Tensor wanted = want.at("predictor_prob_t").flatten(2).transpose(1, 2);
    const auto load = [&](const auto& heads) {
      predictor = load_predictor(folder / "mage.pth", nullptr, {heads.first, heads.second});
    };
    load(best_fit(candidates, [&](const auto& heads) {
      load(heads);
      return relative_error(predictor->distribution(z_t.tokens, z_t.masked, grid), wanted);
    }));
  }

  void load_fitting_addp(const std::filesystem::path& folder) {
    HeadCounts heads;
    const auto load = [&] {
      LoadedAddp loaded = load_addp(folder / "addp.pth", folder / "vqgan.ckpt", heads);
      addp = loaded.network;
      report = loaded.report;
    };
    load();
    const AddpConfig usual = addp->config();
    const auto fit = [&](std::int64_t& count, const char* fact, std::int64_t guess,
                         std::int64_t width, const auto& output, const Tensor& wanted) {
      count = best_fit(possible_heads(folder, fact, guess, width), [&](std::int64_t candidate) {
        count = candidate;
        load();
        return relative_error(output(), wanted);
      });
      load();
    };
    fit(
        heads.encoder, "encoder_heads", usual.encoder.vit.heads, usual.encoder.vit.width,
        [&] { return encoder_out(); }, wanted_encoder_out());
    fit(
        heads.decoder, "decoder_heads", usual.decoder_heads, usual.decoder_width,
        [&] { return addp->logits(decoded()); }, wanted_logits());
  }
};

}  // namespace addp::testing
