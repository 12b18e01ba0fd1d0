#include "checkpoint/format/npy.h"

#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "checkpoint/format/byte_reader.h"
#include "checkpoint/format/zip_file.h"

namespace addp {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::uint64_t kMaxNpyHeader = 65536;
constexpr std::size_t kMaxDimensions = 32;  // NumPy's own limit

constexpr std::array<std::pair<std::string_view, DType>, 12> kNpyTypes = {{{"|b1", DType::kBool},
                                                                           {"|u1", DType::kU8},
                                                                           {"|i1", DType::kI8},
                                                                           {"<i2", DType::kI16},
                                                                           {"<u2", DType::kU16},
                                                                           {"<i4", DType::kI32},
                                                                           {"<u4", DType::kU32},
                                                                           {"<i8", DType::kI64},
                                                                           {"<u8", DType::kU64},
                                                                           {"<f2", DType::kF16},
                                                                           {"<f4", DType::kF32},
                                                                           {"<f8", DType::kF64}}};

struct Header {
  DType type = DType::kF32;
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

// The header is a Python dictionary literal of three known entries; nothing else is understood.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header read() {
    Header header;
    bool have_type = false, have_order = false, have_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !std::exchange(have_type, true)) {
        header.type = type();
      } else if (key == "fortran_order" && !std::exchange(have_order, true)) {
        header.fortran = boolean();
      } else if (key == "shape" && !std::exchange(have_shape, true)) {
        header.shape = shape();
      } else {
        fail(fmt::format("has the unexpected entry '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!have_type || !have_order || !have_shape) fail("lacks descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError("{}: its .npy header {}; write the array again with numpy.save", name_, what);
  }

  void skip_space() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) {
      text_.remove_prefix(1);
    }
  }

  bool accept(char c) {
    skip_space();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("has no '{}' where one belongs", c));
  }

  std::string_view quoted() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = text_.find(quote);
    if (end == std::string_view::npos) fail("has a text that does not end");
    const std::string_view text = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return text;
  }

  DType type() {
    skip_space();
    if (!text_.empty() && text_.front() == '[')
      fail("describes a record array, which is not supported");
    const std::string_view text = quoted();
    for (const auto& [spelling, type] : kNpyTypes) {
      // One-byte types carry '|' or, from older writers, '<'.
      if (text == spelling || (dtype_size(type) == 1 && text.size() == 3 && text[0] == '<' &&
                               text.substr(1) == spelling.substr(1))) {
        return type;
      }
    }
    fail(fmt::format("has the element type '{}', which is not supported", text));
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    fail("says neither True nor False for fortran_order");
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      std::int64_t size = 0;
      skip_space();
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) fail("has a size that is not a whole number");
      text_.remove_prefix(std::size_t(end - text_.data()));
      sizes.push_back(size);
      if (sizes.size() > kMaxDimensions) fail("has too many dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& name_;
};

std::vector<std::int64_t> strides_of(const std::vector<std::int64_t>& shape, bool fortran) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t at = fortran ? i : shape.size() - 1 - i;
    strides[at] = step;
    step *= std::max<std::int64_t>(shape[at], 1);
  }
  return strides;
}

std::string_view npy_type(DType type) {
  for (const auto& [spelling, candidate] : kNpyTypes) {
    if (candidate == type) return spelling;
  }
  throw UsageError("a .npy file cannot hold {}: convert to float32 first", dtype_name(type));
}

}  // namespace

TensorView parse_npy(ByteSpan bytes, std::shared_ptr<const void> owner, const std::string& name) {
  ByteReader reader(bytes, name);
  if (bytes.size() < kMagic.size() || reader.take_text(kMagic.size()) != kMagic) {
    throw DataError("{}: is not a .npy array", name);
  }
  const auto major = reader.take_little<std::uint8_t>();
  reader.take(1);
  if (major < 1 || major > 3) {
    throw DataError("{}: is a .npy array of version {}, only 1 to 3 are known", name, major);
  }
  const std::uint64_t length =
      major == 1 ? reader.take_little<std::uint16_t>() : reader.take_little<std::uint32_t>();
  if (length > kMaxNpyHeader)
    throw DataError("{}: has a .npy header of {} bytes, too long", name, length);
  const Header header = HeaderReader(reader.take_text(length), name).read();
  const auto count = checked_numel(header.shape);
  const std::uint64_t most = reader.remaining() / dtype_size(header.type);
  if (!count || static_cast<std::uint64_t>(*count) > most) {
    throw DataError(
        "{}: says it has shape {}, but holds {} bytes only; it is cut off, make it again", name,
        fmt::join(header.shape, "x"), reader.remaining());
  }
  TensorView view;
  view.dtype = header.type;
  view.shape = header.shape;
  view.bytes = reader.take(static_cast<std::uint64_t>(*count) * dtype_size(header.type));
  view.strides = strides_of(header.shape, header.fortran);
  view.owner = std::move(owner);
  return view;
}

TensorMap parse_npz(ByteSpan bytes, std::shared_ptr<const void> owner, const std::string& name) {
  ZipFile zip(bytes, std::move(owner), name);
  TensorMap arrays;
  for (const auto& [record, _] : zip.records()) {
    if (!record.ends_with(".npy")) continue;
    const ZipContent content = zip.read(record, /*verify=*/true);
    arrays[record.substr(0, record.size() - 4)] =
        parse_npy(content.bytes, content.owner, name + ": " + record);
  }
  return arrays;
}

Bytes format_npy(const TensorView& tensor) {
  std::string shape;
  for (const std::int64_t size : tensor.shape) shape += fmt::format("{}, ", size);
  if (tensor.shape.size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   npy_type(tensor.dtype), shape);
  // The data begin at a multiple of 64, so that they can be mapped.
  const std::size_t used = kMagic.size() + 4 + header.size() + 1;
  header.append((64 - used % 64) % 64, ' ').push_back('\n');
  Bytes bytes(kMagic.begin(), kMagic.end());
  bytes.insert(bytes.end(),
               {1, 0, std::uint8_t(header.size() & 0xFF), std::uint8_t(header.size() >> 8)});
  bytes.insert(bytes.end(), header.begin(), header.end());
  const Bytes data = tensor.contiguous_bytes();
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

void write_npy(const std::filesystem::path& path, const TensorView& tensor) {
  write_file_atomically(path, format_npy(tensor));
}

}  // namespace addp
