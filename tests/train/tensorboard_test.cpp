#include "train/tensorboard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

// --- a reader of its own: TFRecord framing and protobuf's wire format ---

std::uint32_t crc32c(ByteSpan bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
  }
  return crc ^ 0xFFFFFFFFu;
}

std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u; }

template <class T>
T take(ByteSpan& bytes) {
  T value{};
  if (bytes.size() < sizeof value) throw std::runtime_error("cut short");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

struct Field {
  std::uint64_t number = 0;  // varint, or the bits of a fixed-width value
  std::string bytes;
};
using Fields = std::map<unsigned, Field>;

std::uint64_t take_varint(ByteSpan& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = take<std::uint8_t>(bytes);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

Fields decode(const std::string& text) {
  ByteSpan bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  Fields fields;
  while (!bytes.empty()) {
    const std::uint64_t key = take_varint(bytes);
    Field& field = fields[static_cast<unsigned>(key >> 3)];
    switch (key & 7) {
      case 0:
        field.number = take_varint(bytes);
        break;
      case 1:
        field.number = take<std::uint64_t>(bytes);
        break;
      case 5:
        field.number = take<std::uint32_t>(bytes);
        break;
      case 2: {
        const std::uint64_t length = take_varint(bytes);
        if (length > bytes.size()) throw std::runtime_error("cut short");
        field.bytes.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        bytes = bytes.subspan(length);
        break;
      }
      default:
        throw std::runtime_error("unknown wire type");
    }
  }
  return fields;
}

std::vector<Fields> read_events(const std::filesystem::path& path) {
  const Bytes file = read_file(path);
  ByteSpan rest = file;
  std::vector<Fields> events;
  while (!rest.empty()) {
    const ByteSpan length_bytes = rest.first(8);
    const auto length = take<std::uint64_t>(rest);
    EXPECT_EQ(take<std::uint32_t>(rest), masked(crc32c(length_bytes)));
    const ByteSpan record = rest.first(length);
    rest = rest.subspan(length);
    EXPECT_EQ(take<std::uint32_t>(rest), masked(crc32c(record)));
    events.push_back(decode({record.begin(), record.end()}));
  }
  return events;
}

Fields value_of(const Fields& event) { return decode(decode(event.at(5).bytes).at(1).bytes); }

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  return files;
}

TEST(TensorBoard, OwnReaderKnowsThePublishedChecksum) {
  const std::string digits = "123456789";  // RFC 3720's check value
  EXPECT_EQ(crc32c({reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size()}),
            0xE3069283u);
}

TEST(TensorBoard, ScalarsPicturesAndText) {
  const testing::TemporaryFolder folder;
  const Bytes png = {0x89, 'P', 'N', 'G', 0, 1, 2, 255};
  TensorBoardWriter writer(folder.path() / "a/b", 7);
  writer.scalar("train/loss", 0.25f, 12);
  writer.scalar("train/loss", -1e30f, std::int64_t{1} << 40);
  writer.image("samples", png, 320, 200, 13);
  writer.text("command", "`addp train`", 0);
  writer.flush();

  EXPECT_TRUE(writer.path().filename().string().starts_with("events.out.tfevents."));
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 6u);
  for (const auto& event : events) {
    EXPECT_GT(std::bit_cast<double>(event.at(1).number), 1.6e9);  // seconds since 1970
  }
  EXPECT_EQ(events[0].at(3).bytes, "brain.Event:2");
  EXPECT_EQ(events[1].at(2).number, 7u);
  EXPECT_EQ(decode(events[1].at(7).bytes).at(1).number, 1u);  // SessionLog.START

  EXPECT_EQ(events[2].at(2).number, 12u);
  EXPECT_EQ(value_of(events[2]).at(1).bytes, "train/loss");
  const auto scalar = [](const Fields& event) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value_of(event).at(2).number));
  };
  EXPECT_EQ(scalar(events[2]), 0.25f);
  EXPECT_EQ(events[3].at(2).number, std::uint64_t{1} << 40);
  EXPECT_EQ(scalar(events[3]), -1e30f);

  EXPECT_EQ(value_of(events[4]).at(1).bytes, "samples");
  const Fields picture = decode(value_of(events[4]).at(4).bytes);
  EXPECT_EQ(picture.at(1).number, 200u);
  EXPECT_EQ(picture.at(2).number, 320u);
  EXPECT_EQ(picture.at(4).bytes, std::string(png.begin(), png.end()));

  const Fields text = value_of(events[5]);
  EXPECT_EQ(decode(decode(text.at(9).bytes).at(1).bytes).at(1).bytes, "text");
  const Fields tensor = decode(text.at(8).bytes);
  EXPECT_EQ(tensor.at(1).number, 7u);  // DT_STRING
  EXPECT_EQ(decode(decode(tensor.at(2).bytes).at(2).bytes).at(1).number, 1u);
  EXPECT_EQ(tensor.at(8).bytes, "`addp train`");
}

TEST(TensorBoard, EveryStartHasItsOwnFile) {
  const testing::TemporaryFolder folder;
  Bytes before;
  {
    TensorBoardWriter first(folder.path());
    first.scalar("a", 1, 1);
    first.flush();
    before = read_file(first.path());
    TensorBoardWriter second(folder.path(), 2);
    second.scalar("a", 2, 2);
    EXPECT_NE(first.path(), second.path());
    EXPECT_EQ(read_file(first.path()), before);
  }
  const auto files = files_of(folder.path());
  ASSERT_EQ(files.size(), 2u);
  for (const auto& file : files) EXPECT_EQ(read_events(file).size(), 3u);
}

TEST(TensorBoard, LargeRecordsDoNotWaitInMemory) {
  const testing::TemporaryFolder folder;
  TensorBoardWriter writer(folder.path());
  writer.image("big", Bytes(1 << 20, 3), 1, 1, 1);
  EXPECT_EQ(read_events(writer.path()).size(), 3u);
}

TEST(TensorBoard, FolderThatCannotBeMade) {
  EXPECT_THROW(TensorBoardWriter("/proc/nothing/here"), RuntimeError);
}

}  // namespace
}  // namespace addp
