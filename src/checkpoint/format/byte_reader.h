// A cursor over foreign bytes that never leaves them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/file/file_io.h"

namespace addp {

class ByteReader {
 public:
  // `name` is what errors name.
  ByteReader(ByteSpan bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return bytes_.size() - position_; }
  const std::string& name() const { return name_; }

  ByteSpan take(std::uint64_t count) {
    if (count > remaining()) {
      throw DataError(
          "{}: ends too early: {} bytes wanted at byte {}, {} are left; it is damaged or cut off, "
          "fetch it again",
          name_, count, position_, remaining());
    }
    const ByteSpan part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }

  std::string_view take_text(std::uint64_t count) {
    const ByteSpan part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  template <class T>
  T take_little() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  // Up to the next line feed, which is consumed and not returned.
  std::string_view take_line() {
    const auto* start = bytes_.data() + position_;
    const void* end = remaining() == 0 ? nullptr : std::memchr(start, '\n', remaining());
    if (end == nullptr) {
      throw DataError("{}: a line at byte {} does not end; it is damaged, fetch it again", name_,
                      position_);
    }
    const std::string_view line =
        take_text(static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(end) - start));
    position_ += 1;
    return line;
  }

 private:
  ByteSpan bytes_;
  std::string name_;
  std::uint64_t position_ = 0;
};

}  // namespace addp
