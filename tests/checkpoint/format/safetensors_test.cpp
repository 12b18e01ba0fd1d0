#include "checkpoint/format/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "checkpoint/python.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

Bytes file_of(const std::string& header, std::size_t data) {
  Bytes bytes(8 + header.size() + data);
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

// The sentence of the DataError that `header` ends in.
std::string refusal(const std::string& header, std::size_t data) {
  const Bytes bytes = file_of(header, data);
  try {
    parse_safetensors(bytes, nullptr, "some.safetensors");
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find("some.safetensors: "), 0u) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << header;
  return "";
}

TEST(Safetensors, RoundTrip) {
  const TemporaryFolder scratch;
  TensorMap tensors;
  tensors["b.odd"] = make_tensor(DType::kU8, {3}, {1, 2, 3});
  tensors["a"] = make_tensor(DType::kF32, {2, 1}, {0, 0, 128, 63, 0, 0, 0, 64});
  tensors["empty"] = make_tensor(DType::kF64, {4, 0}, {});
  tensors["scalar \"ü\""] = make_tensor(DType::kI64, {}, Bytes(8, 7));
  TensorView transposed = make_tensor(DType::kI16, {2, 3}, {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0});
  std::swap(transposed.shape[0], transposed.shape[1]);
  std::swap(transposed.strides[0], transposed.strides[1]);
  tensors["transposed"] = transposed;
  write_safetensors(scratch / "x.safetensors", tensors, {{"note", "line\nbreak"}});
  const Safetensors back = read_safetensors(scratch / "x.safetensors");
  EXPECT_EQ(back.metadata, (std::map<std::string, std::string>{{"note", "line\nbreak"}}));
  ASSERT_EQ(back.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    SCOPED_TRACE(name);
    const TensorView& other = back.tensors.at(name);
    EXPECT_EQ(other.dtype, tensor.dtype);
    EXPECT_EQ(other.shape, tensor.shape);
    EXPECT_EQ(other.contiguous_bytes(), tensor.contiguous_bytes());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.bytes.data()) % dtype_size(other.dtype), 0u);
  }
  EXPECT_EQ(back.tensors.at("transposed").contiguous_bytes(),
            (Bytes{0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0}));
}

TEST(Safetensors, LyingHeaders) {
  const std::string good = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_NO_THROW(parse_safetensors(file_of(good, 8), nullptr, "x"));
  EXPECT_NE(refusal(good, 4).find("bytes 0 to 8 of 4"), std::string::npos);
  refusal(good, 12);  // a rest that nothing describes
  refusal(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}})", 0);
  refusal(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}})", 8);
  EXPECT_NE(
      refusal(R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", 8).find("F8_E4M3"),
      std::string::npos);
  refusal(R"({"a":{"dtype":"F32","shape":[2]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", 8);
  refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})", 8);
  refusal(R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  refusal(R"({"a":[]})", 0);
  refusal(R"({"__metadata__":{"a":1}})", 0);
  refusal(R"({"__metadata__":{"a":{}}})", 0);
  refusal(R"([])", 0);
  refusal(R"({"a":)", 0);
  refusal(std::string(100'000, '['), 0);
  refusal("{\"a\":" + std::string(100'000, '['), 0);
}

TEST(Safetensors, OverlapsHolesAndTwins) {
  const auto two = [](const std::string& first, const std::string& second, const char* name = "b") {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[)" + first + R"(]},")" + name +
           R"(":{"dtype":"U8","shape":[4],"data_offsets":[)" + second + "]}}";
  };
  EXPECT_NO_THROW(parse_safetensors(file_of(two("4,8", "0,4"), 8), nullptr, "x"));
  refusal(two("0,4", "2,6"), 8);
  refusal(two("0,4", "0,4"), 4);
  refusal(two("0,4", "5,9"), 9);
  EXPECT_NE(refusal(two("0,4", "4,8", "a"), 8).find("'a' twice"), std::string::npos);
}

TEST(Safetensors, EveryTruncationIsReported) {
  const TemporaryFolder scratch;
  write_safetensors(scratch / "x.safetensors", {{"a", make_tensor(DType::kU8, {5}, Bytes(5))},
                                                {"b", make_tensor(DType::kU8, {3}, Bytes(3))}});
  const Bytes whole = read_file(scratch / "x.safetensors");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse_safetensors(ByteSpan(whole).first(size), nullptr, "x"), DataError) << size;
  }
}

}  // namespace
}  // namespace addp
