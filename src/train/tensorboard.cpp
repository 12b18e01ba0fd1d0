#include "train/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace addp {
namespace {

// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as TFRecord wants it.
constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82F63B78u : 0u);
    table[i] = value;
  }
  return table;
}

// TFRecord stores a checksum rotated and shifted, so that checksums of data which itself holds
// checksums stay sound.
std::uint32_t masked_crc(std::string_view bytes) {
  static constexpr auto kTable = make_crc_table();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  }
  return std::rotr(~crc, 15) + 0xA282EAD8u;
}

template <class Unsigned>
void put_little_endian(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

// The wire format of protocol buffers: a key (field number and wire type), then the value.
class Message {
 public:
  Message& integer(unsigned field, std::int64_t value) {
    key(field, 0);
    variable_length(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(unsigned field, double value) {
    key(field, 1);
    put_little_endian(bytes_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(unsigned field, float value) {
    key(field, 5);
    put_little_endian(bytes_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  Message& bytes(unsigned field, std::string_view value) {
    key(field, 2);
    variable_length(value.size());
    bytes_ += value;
    return *this;
  }
  const std::string& done() const { return bytes_; }

 private:
  void key(unsigned field, unsigned type) { variable_length(field << 3 | type); }
  void variable_length(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Field numbers and enumerators of event.proto, summary.proto, tensor.proto, tensor_shape.proto.
constexpr unsigned kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5,
                   kEventSessionLog = 7;
constexpr unsigned kSessionStatus = 1, kSessionStart = 1;
constexpr unsigned kSummaryValue = 1;
constexpr unsigned kValueTag = 1, kValueSimple = 2, kValueImage = 4, kValueTensor = 8,
                   kValueMetadata = 9;
constexpr unsigned kImageHeight = 1, kImageWidth = 2, kImageColorspace = 3, kImageEncoded = 4,
                   kColorspaceRgb = 3;
constexpr unsigned kMetadataPlugin = 1, kPluginName = 1;
constexpr unsigned kTensorType = 1, kTensorShape = 2, kTensorStrings = 8, kTypeString = 7;
constexpr unsigned kShapeDimension = 2, kDimensionSize = 1;

constexpr std::size_t kLargestBuffer = std::size_t{1} << 16;
constexpr std::chrono::seconds kFlushInterval{10};

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  std::string text = name.data();
  for (char& c : text) c = c == '/' ? '_' : c;
  return text;
}

// A new file: two starts within a second, on one machine or several, get different names.
int create_event_file(const std::filesystem::path& folder, std::filesystem::path& path) {
  for (int attempt = 0; attempt < 10000; ++attempt) {
    path = folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}",
                                static_cast<std::int64_t>(wall_time()), host_name(), ::getpid(),
                                attempt);
    const int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) break;
  }
  throw RuntimeError("{}: cannot be created: {}", path, std::strerror(errno));
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& folder, std::int64_t first_step)
    : flushed_(std::chrono::steady_clock::now()) {
  make_folder(folder);
  descriptor_ = create_event_file(folder, path_);
  add_event(0, Message().bytes(kEventFileVersion, "brain.Event:2").done());
  const auto start = Message().integer(kSessionStatus, kSessionStart).done();
  add_event(first_step, Message().bytes(kEventSessionLog, start).done());
}

TensorBoardWriter::~TensorBoardWriter() {
  try {
    flush();
  } catch (const Error&) {
  }
  ::close(descriptor_);
}

void TensorBoardWriter::add_event(std::int64_t step, std::string_view content) {
  std::string record = Message().real(kEventWallTime, wall_time()).done();
  record += Message().integer(kEventStep, step).done();
  record += content;
  std::string length;
  put_little_endian(length, static_cast<std::uint64_t>(record.size()));
  pending_ += length;
  put_little_endian(pending_, masked_crc(length));
  pending_ += record;
  put_little_endian(pending_, masked_crc(record));
  const bool due = std::chrono::steady_clock::now() - flushed_ >= kFlushInterval;
  if (due || pending_.size() >= kLargestBuffer) flush();
}

void TensorBoardWriter::add_value(std::int64_t step, std::string_view value) {
  const auto summary = Message().bytes(kSummaryValue, value).done();
  add_event(step, Message().bytes(kEventSummary, summary).done());
}

void TensorBoardWriter::scalar(const std::string& tag, float value, std::int64_t step) {
  add_value(step, Message().bytes(kValueTag, tag).real(kValueSimple, value).done());
}

void TensorBoardWriter::image(const std::string& tag, ByteSpan png, std::int64_t width,
                              std::int64_t height, std::int64_t step) {
  const std::string_view encoded(reinterpret_cast<const char*>(png.data()), png.size());
  const auto picture = Message()
                           .integer(kImageHeight, height)
                           .integer(kImageWidth, width)
                           .integer(kImageColorspace, kColorspaceRgb)
                           .bytes(kImageEncoded, encoded)
                           .done();
  add_value(step, Message().bytes(kValueTag, tag).bytes(kValueImage, picture).done());
}

void TensorBoardWriter::text(const std::string& tag, std::string_view markdown, std::int64_t step) {
  const auto plugin = Message().bytes(kPluginName, "text").done();
  const auto about = Message().bytes(kMetadataPlugin, plugin).done();
  const auto one = Message().integer(kDimensionSize, 1).done();
  const auto shape = Message().bytes(kShapeDimension, one).done();
  const auto content = Message()
                           .integer(kTensorType, kTypeString)
                           .bytes(kTensorShape, shape)
                           .bytes(kTensorStrings, markdown)
                           .done();
  add_value(step, Message()
                      .bytes(kValueTag, tag)
                      .bytes(kValueTensor, content)
                      .bytes(kValueMetadata, about)
                      .done());
}

void TensorBoardWriter::flush() {
  flushed_ = std::chrono::steady_clock::now();
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      pending_.erase(0, pending_.size() - rest.size());
      throw RuntimeError("{}: cannot be written: {}", path_, std::strerror(reason));
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  pending_.clear();
}

}  // namespace addp
