#include "checkpoint/layout/weights_digest.h"

#include <gtest/gtest.h>

#include "checkpoint/format/safetensors.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using Metadata = std::map<std::string, std::string>;

TensorView numbers(std::uint8_t first) { return make_tensor(DType::kU8, {2}, {first, 2}); }

std::string digest_of(const TensorMap& tensors, const Metadata& metadata) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "model.safetensors";
  write_safetensors(file, tensors, metadata);
  return weights_digest(file);
}

TEST(WeightsDigest, KnowsWeightsAndSizesAlone) {
  const Metadata plain{{"addp.config", R"({"heads": 4})"}, {"addp.provenance", "here"}};
  const std::string model = digest_of({{"a", numbers(1)}}, plain);
  EXPECT_EQ(model.size(), 64U);
  EXPECT_NE(model, digest_of({{"a", numbers(3)}}, plain));
  EXPECT_NE(model, digest_of({{"b", numbers(1)}}, plain));
  EXPECT_NE(model, digest_of({{"a", numbers(1)}}, {{"addp.config", R"({"heads": 2})"}}));
  // Where it was made, and what makes it fast, is not what it is.
  const Metadata fast{{"addp.config", R"({"bypass": {"width": 8}, "heads": 4})"},
                      {"addp.provenance", "there"}};
  EXPECT_EQ(model, digest_of({{"a", numbers(1)}, {"bypass.mean", numbers(7)}}, fast));
}

TEST(WeightsDigest, TakesForeignFilesAsTheyAre) {
  const TensorMap tensors{{"bypass.mean", numbers(1)}};
  EXPECT_NE(digest_of(tensors, {}), digest_of({{"bypass.mean", numbers(2)}}, {}));
  EXPECT_EQ(digest_of(tensors, {}), digest_of(tensors, {}));
}

}  // namespace
}  // namespace addp
