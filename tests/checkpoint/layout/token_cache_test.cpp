#include "checkpoint/layout/token_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

template <class Number>
TensorView tensor_of(DType type, std::vector<std::int64_t> shape,
                     const std::vector<Number>& values) {
  Bytes bytes(values.size() * sizeof(Number));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return make_tensor(type, std::move(shape), std::move(bytes));
}

const TokenCacheLayout kLayout{.key = "key", .views = 2, .positions = 3, .codes = 8};

TokenCache good() {
  return {tensor_of<std::int32_t>(DType::kI32, {1, 2, 3}, {0, 1, 2, 7, 6, 5}),
          tensor_of<std::int64_t>(DType::kI64, {1}, {-1})};
}

Safetensors file_of(const TokenCache& cache) {
  return {{{"tokens", cache.tokens}, {"labels", cache.labels}},
          {{"addp.kind", "token-cache"}, {"key", "key"}}};
}

TEST(TokenCache, IsReadBackAndMadeAnewForAnotherKey) {
  testing::TemporaryFolder folder;
  const auto path = folder.path() / "tokens.safetensors";
  EXPECT_FALSE(read_token_cache(path, kLayout));
  write_token_cache(path, good(), kLayout);
  const auto read = read_token_cache(path, kLayout);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tokens.contiguous_bytes(), good().tokens.contiguous_bytes());
  TokenCacheLayout other = kLayout;
  other.key = "another";
  EXPECT_FALSE(read_token_cache(path, other));
}

TEST(TokenCache, WhatIsDamagedIsNamed) {
  std::vector<TokenCache> damaged(6, good());
  damaged[0].tokens = tensor_of<std::int32_t>(DType::kI32, {1, 2, 3}, {0, 1, 2, 8, 6, 5});
  damaged[1].tokens = tensor_of<std::int32_t>(DType::kI32, {1, 2, 3}, {0, -1, 2, 7, 6, 5});
  damaged[2].tokens = tensor_of<std::int32_t>(DType::kI32, {2, 3}, {0, 1, 2, 7, 6, 5});
  damaged[3].tokens = tensor_of<std::int64_t>(DType::kI64, {1, 2, 3}, {0, 1, 2, 7, 6, 5});
  damaged[4].labels = tensor_of<std::int64_t>(DType::kI64, {2}, {0, 0});
  damaged[5].labels = tensor_of<std::int64_t>(DType::kI64, {1}, {-2});
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    EXPECT_THROW(parse_token_cache(file_of(damaged[i]), kLayout, "file"), DataError) << i;
  }
  Safetensors lacking = file_of(good());
  lacking.tensors.erase("labels");
  EXPECT_THROW(parse_token_cache(lacking, kLayout, "file"), DataError);
  EXPECT_TRUE(parse_token_cache(file_of(good()), kLayout, "file"));
}

TEST(TokenCache, OtherFilesAreNotTakenForOne) {
  Safetensors model = file_of(good());
  model.metadata = {{"addp.kind", "tokenizer"}, {"key", "key"}};
  EXPECT_THROW(parse_token_cache(model, kLayout, "file"), DataError);
  model.metadata = {};
  EXPECT_THROW(parse_token_cache(model, kLayout, "file"), DataError);
  model.metadata = {{"key", "key"}};  // as the first versions wrote it
  EXPECT_TRUE(parse_token_cache(model, kLayout, "file"));
}

}  // namespace
}  // namespace addp
