#include "eval/generation/picture_set.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "eval/generation/tokenizer_report.h"
#include "nn/torch.h"
#include "tokenizer/codebook_use.h"

namespace addp {
namespace {

TEST(PictureSet, ComesInOrderAndThinnedEvenly) {
  PictureSetOptions options;
  options.data = "shapes:size=24,count=10,seed=3";
  options.split = "train";
  std::vector<Image> all;
  const auto collect = [&](std::span<const Image> images) {
    EXPECT_LE(images.size(), 4U);
    all.insert(all.end(), images.begin(), images.end());
  };
  EXPECT_EQ(for_each_picture(options, 4, "pictures", collect), 10);
  const std::vector<Image> every = std::exchange(all, {});
  options.count = 5;
  EXPECT_EQ(for_each_picture(options, 4, "pictures", collect), 5);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all[i], every[2 * i]);
  options.size = 16;
  all.clear();
  for_each_picture(options, 4, "pictures", collect);
  EXPECT_EQ(all[0].width, 16);
}

TEST(TokenizerReport, CountsPicturesAndCodes) {
  Vqgan tokenizer(
      VqganConfig{.channels = 8, .multipliers = {1, 2}, .blocks = 1, .codes = 12, .code_width = 4});
  initialise_vqgan(tokenizer, RandomStream(1, "tokenizer"));
  PictureSetOptions pictures;
  pictures.data = "shapes:size=25,count=6,seed=3";  // cut to 24: whole tokens of 2 pixels
  pictures.split = "train";
  Reconstructions shown;
  const TokenizerFigures figures =
      evaluate_tokenizer(tokenizer, pictures, {.batch = 4, .shown = 3}, &shown);
  EXPECT_EQ(figures.pictures, 6);
  EXPECT_EQ(figures.counts.sum().item<std::int64_t>(), 6 * 12 * 12);
  EXPECT_GT(codebook_use(figures.counts).used, 0);
  EXPECT_GT(figures.psnr, 0);
  EXPECT_FALSE(figures.lpips || figures.rfid);
  ASSERT_EQ(shown.originals.size(), 3U);
  EXPECT_EQ(shown.rebuilt[0].width, 24);
}

}  // namespace
}  // namespace addp
