#include "checkpoint/format/safetensors_header.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"

namespace addp {
namespace {

using Json = nlohmann::json;

class HeaderEvents final : public nlohmann::json_sax<Json> {
 public:
  HeaderEvents(SafetensorsHeader& header, const std::string& file) : header_(header), file_(file) {}

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a truth value"); }
  bool number_float(double, const std::string&) override { return refuse("a fraction"); }
  bool number_integer(std::int64_t) override { return refuse("a negative number"); }
  bool binary(Json::binary_t&) override { return refuse("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ == Place::kShape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return refuse("a size beyond 2^63");
      }
      header_.entries.back().shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ != Place::kOffsets || offsets_ == 2) return refuse("a number");
    (offsets_++ == 0 ? header_.entries.back().begin : header_.entries.back().end) = value;
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      if (!header_.metadata.emplace(key_, value).second) return refuse("the same key again");
      return true;
    }
    if (place_ != Place::kTensor || key_ != "dtype") return refuse("text");
    header_.entries.back().dtype = value;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kBefore) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) return refuse("the same key again");
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      place_ = Place::kTensor;
      header_.entries.emplace_back().name = key_;
      seen_ = 0;
    } else {
      return refuse("an object");
    }
    return true;
  }

  bool key(std::string& value) override {
    key_ = value;
    if (place_ != Place::kTensor) return true;
    const int bit = value == "dtype" ? 1 : value == "shape" ? 2 : value == "data_offsets" ? 4 : 0;
    if (bit == 0) return refuse("an unknown key");
    if ((seen_ & bit) != 0) return refuse("the same key again");
    seen_ |= bit;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor && seen_ != 7)
      return refuse("a tensor without type, shape or place");
    place_ = place_ == Place::kTop ? Place::kAfter : Place::kTop;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::kTensor || key_ == "dtype") return refuse("a list");
    place_ = key_ == "shape" ? Place::kShape : Place::kOffsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::kOffsets && offsets_ != 2) return refuse("an incomplete pair");
    place_ = Place::kTensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw DataError(
        "{}: its safetensors header is not JSON at byte {}; it is damaged or something else, fetch "
        "it again",
        file_, position);
  }

 private:
  enum class Place { kBefore, kTop, kTensor, kShape, kOffsets, kMetadata, kAfter };

  [[noreturn]] bool refuse(const char* what) const {
    throw DataError("{}: its safetensors header has {} at '{}', which the format does not allow",
                    file_, what, key_.substr(0, 200));
  }

  SafetensorsHeader& header_;
  const std::string& file_;
  Place place_ = Place::kBefore;
  std::string key_;
  int seen_ = 0, offsets_ = 0;
  bool metadata_seen_ = false;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file) {
  SafetensorsHeader header;
  HeaderEvents events(header, file);
  if (text.empty() || text.front() != '{') {
    throw DataError("{}: is not a safetensors file: its header does not start with '{{'", file);
  }
  Json::sax_parse(text.begin(), text.end(), &events);
  return header;
}

}  // namespace addp
