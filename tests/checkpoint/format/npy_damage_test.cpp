// Headers of .npy files that promise what cannot be.
#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoint/format/npy.h"

namespace addp {
namespace {

TensorView parse_with_shape(const std::string& shape, std::size_t data = 0) {
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<std::uint8_t>(header.size()), 0};
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + data);
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return parse_npy(*owner, owner, "a.npy");
}

TEST(NpyDamage, SizesThatOverflow) {
  EXPECT_EQ(parse_with_shape("2,3", 24).numel(), 6);
  EXPECT_THROW(parse_with_shape("2,3", 23), DataError);
  EXPECT_THROW(parse_with_shape("4611686018427387904,4", 64), DataError);
  EXPECT_THROW(parse_with_shape("4611686018427387904", 64), DataError);  // 2^62 of four bytes each
  EXPECT_EQ(parse_with_shape("0,3").numel(), 0);
  // Nothing inside, but steps from row to row that no number holds.
  EXPECT_THROW(parse_with_shape("4000000000000,0,1000000000001,3"), DataError);
}

}  // namespace
}  // namespace addp
