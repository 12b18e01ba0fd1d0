// How well a tokenizer writes pictures: distances picture by picture, FID of the reconstructions,
// and the use of its codebook.
#pragma once

#include <optional>
#include <vector>

#include "eval/generation/generation_report.h"
#include "eval/generation/lpips.h"
#include "eval/generation/picture_set.h"
#include "image/codec/stored_as.h"
#include "tokenizer/vqgan.h"

namespace addp {

struct TokenizerFigures {
  std::int64_t pictures = 0;
  double psnr = 0, ssim = 0;
  std::optional<double> lpips;
  std::optional<GenerationFigures> rfid;
  Tensor counts;  // [K] int64, how often each code was chosen
};

struct TokenizerEvaluation {
  const Lpips* lpips = nullptr;                 // null: left out
  const InceptionNetwork* inception = nullptr;  // null: no rFID
  std::int64_t batch = 32;
  StoredAs stored{};       // as which reconstructions are compared
  std::int64_t shown = 8;  // the first pictures are kept with their reconstructions
};

struct Reconstructions {
  std::vector<Image> originals, rebuilt;
};

// Pictures are cut to whole tokens around their middle; reconstructions are rounded to 8 bits, as
// they would be in files.
TokenizerFigures evaluate_tokenizer(const Vqgan& tokenizer, const PictureSetOptions& pictures,
                                    const TokenizerEvaluation& options,
                                    Reconstructions* shown = nullptr);

}  // namespace addp
