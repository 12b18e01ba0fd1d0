// Networks of public packages, made here in miniature or wrong, as their readers see them.
#include "weights/metric_networks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/file/file_io.h"
#include "support/temporary_folder.h"
#include "weights/find_weights.h"

namespace addp {
namespace {

TEST(MetricNetworks, WhatIsNoNetworkIsRefused) {
  const Bytes junk = {0x80, 0x03, '}', 'q', 0x00, '.'};  // an empty dict
  EXPECT_THROW(import_lpips(junk, "junk"), DataError);
  EXPECT_THROW(import_inception(junk, nullptr, "junk"), DataError);
}

float element(const TensorView& tensor, std::vector<std::int64_t> at) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) offset += at[i] * tensor.strides[i];
  float value = 0;
  std::memcpy(&value, tensor.bytes.data() + offset * 4, 4);
  return value;
}

// The state that numpy pickles an array with, written without numpy: the opcodes are the same.
constexpr const char* kScript = R"(
import struct, sys

def text(s): b = s.encode(); return b'X' + struct.pack('<I', len(b)) + b
def raw(b): return b'B' + struct.pack('<I', len(b)) + b
def number(n): return b'J' + struct.pack('<i', n)
def array(shape):
    count = 1
    for side in shape: count *= side
    values = struct.pack('<%df' % count, *range(count))
    dims = b'(' + b''.join(number(side) for side in shape) + b't'
    dtype = b'cnumpy\ndtype\n(' + text('f4') + b'\x89\x88tR(' + number(3) + text('<') + b'NNN' + number(-1) + number(-1) + number(0) + b'tb'
    return b'cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(' + number(0) + b't' + raw(b'b') + b'tR(' + number(1) + dims + dtype + b'\x89' + raw(values) + b'tb'
def mapping(items): return b'}(' + b''.join(text(k) + v for k, v in items) + b'u'

convs = [('Conv_%d' % i, mapping([('kernel', array((2, 2, 3, 4))), ('bias', array((4,)))])) for i in range(5)]
lins = [('NetLinLayer_%d' % i, mapping([('Conv_0', mapping([('kernel', array((1, 1, 4, 1)))]))])) for i in range(5)]
open(sys.argv[1], 'wb').write(b'\x80\x03' + mapping([('AlexNet_0', mapping(convs))] + lins) + b'.')
)";

TEST(MetricNetworks, KernelsOfArraysAreTurned) {
  testing::TemporaryFolder folder;
  const auto script = folder.path() / "make.py", file = folder.path() / "lpips.ckpt";
  write_file_atomically(script, std::string_view(kScript));
  if (std::system(("python3 " + script.string() + " " + file.string()).c_str()) != 0) {
    GTEST_SKIP() << "needs program python3";
  }
  const TensorMap tensors = import_lpips(read_file(file), "lpips");
  EXPECT_EQ(tensors.size(), 15U);
  const TensorView& weight = tensors.at("features.3.weight");
  EXPECT_EQ(weight.shape, (std::vector<std::int64_t>{4, 3, 2, 2}));
  // [h, w, i, o] = (1, 0, 2, 3) -> [o, i, h, w]
  EXPECT_EQ(element(weight, {3, 2, 1, 0}), float(((1 * 2 + 0) * 3 + 2) * 4 + 3));
  EXPECT_EQ(tensors.at("lin4.weight").shape, (std::vector<std::int64_t>{1, 4, 1, 1}));
  EXPECT_EQ(element(tensors.at("features.0.bias"), {2}), 2.0f);
}

TEST(FindWeights, TwoThatFitAreNamedAndRefused) {
  testing::TemporaryFolder folder;
  ::setenv("ADDP_WEIGHTS", folder.path().c_str(), 1);
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  EXPECT_FALSE(find_weights("inception", {}));
  const auto first = folder.path() / "inception-a.safetensors";
  write_file_atomically(first, "x");
  write_file_atomically(folder.path() / "inception-b.txt", "x");
  EXPECT_EQ(find_weights("inception", {}), first);
  write_file_atomically(folder.path() / "inception-b.safetensors", "x");
  try {
    find_weights("inception", {});
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("inception-a.safetensors and inception-b.safetensors"),
              std::string::npos)
        << message;
  }
  EXPECT_EQ(find_weights("inception", first), first);
  ::unsetenv("ADDP_WEIGHTS");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace addp
