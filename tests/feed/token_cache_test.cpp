// The cache of tokens: what a broken picture leaves out of it, and when it is made anew.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/run/progress.h"
#include "feed/token_feed.h"
#include "image/codec/codec.h"
#include "model/load.h"
#include "nn/torch.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

namespace fs = std::filesystem;
constexpr int kPictures = 120;  // so that one of them is less than one in a hundred
constexpr std::int64_t kViews = 3;

Image speckled(int seed) {
  Image image(24, 20);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] =
        static_cast<std::uint8_t>((i * 37 + static_cast<std::size_t>(seed) * 101) % 251);
  }
  return image;
}

class TokenCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_progress_quiet(true);
    fs::create_directory(pictures());
    for (int i = 0; i < kPictures; ++i) save_image(picture(i), speckled(i));
    auto tokenizer = std::make_shared<Vqgan>(testing::small_tokenizer());
    initialise_vqgan(*tokenizer, RandomStream(1, "test"));
    tokenizer_ = std::move(tokenizer);
  }

  fs::path pictures() const { return folder_.path() / "pictures"; }
  fs::path picture(int i) const { return pictures() / fmt::format("{:03}.png", i); }
  fs::path cache() const { return folder_.path() / "cache.safetensors"; }

  void open() {
    TrainOptions options;
    options.data = pictures().string();
    options.out = folder_.path();
    options.size = 16;
    options.batch_size = 8;
    options.workers = 1;
    TokenOptions tokens;
    tokens.views = kViews;
    tokens.cache = cache();
    TokenFeed feed(options, tokens, tokenizer_, world_);
    feed.seek(0);
    EXPECT_EQ(feed.next().ids.size(0), 8);
  }
  Tensor tokens_made() {
    open();
    return to_torch(read_safetensors(cache()).tensors.at("tokens"));
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<const Vqgan> tokenizer_;
  World world_;
};

TEST_F(TokenCacheTest, ABrokenPictureIsLeftOutAndTheOthersKeepTheirTokens) {
  const Tensor all = tokens_made();
  ASSERT_EQ(all.size(0), kPictures);
  EXPECT_GT(all.ne(all.select(1, 0).unsqueeze(1)).sum().item<std::int64_t>(), 0);  // crops differ
  const Bytes whole = read_file(picture(40));
  write_file_atomically(picture(40), ByteSpan(whole).first(whole.size() / 2));
  const Tensor left = tokens_made();
  EXPECT_EQ(left.size(0), kPictures - 1);
  EXPECT_TRUE(torch::equal(left, torch::cat({all.slice(0, 0, 40), all.slice(0, 41)})));
}

TEST_F(TokenCacheTest, OtherPicturesUnderTheSameNamesAreTokenizedAnew) {
  const Tensor before = tokens_made();
  const auto written = fs::last_write_time(cache());
  EXPECT_TRUE(torch::equal(tokens_made(), before));
  EXPECT_EQ(fs::last_write_time(cache()), written);  // used again
  Image other = speckled(7);
  for (auto& value : other.pixels) value = static_cast<std::uint8_t>(255 - value / 2);
  save_image(picture(0), other);
  const Tensor after = tokens_made();
  EXPECT_FALSE(torch::equal(after[0], before[0]));
  EXPECT_TRUE(torch::equal(after.slice(0, 1), before.slice(0, 1)));
}

TEST_F(TokenCacheTest, AFileThatIsNoCacheIsRefusedAndStays) {
  save_tokenizer(cache(), *tokenizer_, "{}");
  const Bytes model = read_file(cache());
  EXPECT_THROW(open(), DataError);
  EXPECT_EQ(read_file(cache()), model);
  write_file_atomically(cache(), "notes");
  EXPECT_THROW(open(), DataError);
  EXPECT_EQ(read_text_file(cache()), "notes");
}

}  // namespace
}  // namespace addp
