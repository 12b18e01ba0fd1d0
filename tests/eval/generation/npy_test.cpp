#include "checkpoint/format/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "base/error.h"
#include "eval/generation/feature_set.h"
#include "support/temporary_folder.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

Bytes npy_bytes(const std::string& header, const Bytes& data, std::uint8_t version = 1) {
  Bytes bytes = {0x93,
                 'N',
                 'U',
                 'M',
                 'P',
                 'Y',
                 version,
                 0,
                 std::uint8_t(header.size()),
                 std::uint8_t(header.size() >> 8)};
  if (version > 1) bytes.insert(bytes.end(), {0, 0});
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

TensorView parse(const Bytes& bytes) { return parse_npy(bytes, nullptr, "a.npy"); }

Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(Npy, WrittenArraysAreReadBack) {
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{}, {5}, {2, 3}, {2, 0, 4}, {1, 2, 3, 4}}) {
    const auto tensor = torch::rand(shape);
    const Bytes bytes = format_npy(to_view(tensor));
    const TensorView view = parse(bytes);
    EXPECT_EQ(view.shape, shape);
    EXPECT_TRUE(torch::equal(to_torch(view), tensor));
    const std::size_t header = 10 + bytes[8] + 256U * bytes[9];
    EXPECT_EQ(header % 64, 0U);
    EXPECT_EQ(bytes[header - 1], '\n');
  }
}

TEST(Npy, EveryElementTypeSurvives) {
  for (const auto type : {torch::kBool, torch::kByte, torch::kChar, torch::kShort, torch::kInt,
                          torch::kLong, torch::kHalf, torch::kFloat, torch::kDouble}) {
    const auto tensor = torch::tensor({0, 1, 1, 0, 1}).to(type);
    EXPECT_TRUE(torch::equal(to_torch(parse(format_npy(to_view(tensor)))), tensor));
  }
  EXPECT_THROW(format_npy(to_view(torch::zeros({2}, torch::kBFloat16))), UsageError);
}

TEST(Npy, FortranOrderAndOtherSpellings) {
  const Bytes data = bytes_of({0, 1, 2, 3, 4, 5});
  const Bytes turned =
      npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", data);
  const auto fortran = parse(turned);
  EXPECT_TRUE(torch::equal(to_torch(fortran), torch::arange(6).to(torch::kFloat).view({3, 2}).t()));
  const Bytes spelled = npy_bytes("{\"shape\":(6,),'descr':'<f4','fortran_order':False}", data, 2);
  const auto loose = parse(spelled);
  EXPECT_TRUE(torch::equal(to_torch(loose), torch::arange(6).to(torch::kFloat)));
}

TEST(Npy, DamagedHeadersAreRefused) {
  const Bytes data = bytes_of({0, 1, 2, 3, 4, 5});
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '|O', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (7,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6"}) {
    EXPECT_THROW(parse(npy_bytes(header, data)), DataError) << header;
  }
  EXPECT_THROW(parse(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}", data, 9)),
               DataError);
}

TEST(Npy, EveryTruncationIsRefused) {
  const Bytes whole = format_npy(to_view(torch::rand({3, 2})));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(parse(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(length))), DataError);
  }
}

std::uint32_t crc32_of(const Bytes& bytes) {
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

void append(Bytes& out, const std::vector<std::pair<std::uint64_t, int>>& fields) {
  for (const auto& [value, size] : fields) {
    for (int i = 0; i < size; ++i) out.push_back(std::uint8_t(value >> (8 * i)));
  }
}

// A zip file of stored records, as numpy.savez writes it.
Bytes stored_zip(const std::map<std::string, Bytes>& records) {
  Bytes zip, directory;
  for (const auto& [name, data] : records) {
    const std::uint64_t crc = crc32_of(data), size = data.size(), offset = zip.size();
    // What the record and its line in the directory have in common: neither flags nor
    // compression, no time.
    const std::vector<std::pair<std::uint64_t, int>> common = {
        {20, 2}, {0, 2}, {0, 2}, {0, 4}, {crc, 4}, {size, 4}, {size, 4}, {name.size(), 2}, {0, 2}};
    append(zip, {{0x04034b50, 4}});
    append(zip, common);
    zip.insert(zip.end(), name.begin(), name.end());
    zip.insert(zip.end(), data.begin(), data.end());
    append(directory, {{0x02014b50, 4}, {20, 2}});
    append(directory, common);
    append(directory, {{0, 2}, {0, 2}, {0, 2}, {0, 4}, {offset, 4}});
    directory.insert(directory.end(), name.begin(), name.end());
  }
  const std::uint64_t start = zip.size();
  zip.insert(zip.end(), directory.begin(), directory.end());
  append(zip, {{0x06054b50, 4},
               {0, 2},
               {0, 2},
               {records.size(), 2},
               {records.size(), 2},
               {directory.size(), 4},
               {start, 4},
               {0, 2}});
  return zip;
}

TEST(Npy, ReferenceStatisticsOfOtherTools) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "reference.npz";
  const auto mu = torch::rand({4}, torch::kDouble), root = torch::rand({4, 4}, torch::kDouble);
  const auto sigma = root.matmul(root.t());
  write_file_atomically(path, stored_zip({{"mu.npy", format_npy(to_view(mu))},
                                          {"sigma.npy", format_npy(to_view(sigma))}}));
  const auto stored = read_feature_set(path);
  EXPECT_EQ(stored.statistics.count(), 0);
  EXPECT_TRUE(torch::equal(stored.statistics.mean(), mu));
  EXPECT_TRUE(torch::equal(stored.statistics.covariance(), sigma));

  write_file_atomically(path, stored_zip({{"mu.npy", format_npy(to_view(mu))}}));
  EXPECT_THROW(read_feature_set(path), DataError);
  write_file_atomically(path,
                        stored_zip({{"mu.npy", format_npy(to_view(mu))},
                                    {"sigma.npy", format_npy(to_view(torch::rand({4, 5})))}}));
  EXPECT_THROW(read_feature_set(path), DataError);
  write_file_atomically(path, stored_zip({{"mu.npy", format_npy(to_view(mu))},
                                          {"sigma.npy", format_npy(to_view(sigma * NAN))}}));
  EXPECT_THROW(read_feature_set(path), DataError);
}

}  // namespace
}  // namespace addp
