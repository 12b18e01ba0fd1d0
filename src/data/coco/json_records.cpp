#include "data/coco/json_records.h"

#include <utility>
#include <vector>

#include "base/error.h"

namespace addp {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 32;  // of one record; deeper is an attack on the stack

// Depth 0 is the top value; at depth 1 an array's elements are the records (depth 2 for
// a top-level object).
class RecordBuilder : public nlohmann::json_sax<Json> {
 public:
  RecordBuilder(const std::string& name, const RecordVisitor& visit) : name_(name), visit_(visit) {}

  bool null() override { return value(Json(nullptr)); }
  bool boolean(bool v) override { return value(Json(v)); }
  bool number_integer(std::int64_t v) override { return value(Json(v)); }
  bool number_unsigned(std::uint64_t v) override { return value(Json(v)); }
  bool number_float(double v, const std::string&) override { return value(Json(v)); }
  bool string(std::string& v) override { return value(Json(std::move(v))); }
  bool binary(Json::binary_t&) override { return value(Json(nullptr)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& v) override {
    if (!parents_.empty()) {
      key_ = std::move(v);
    } else if (depth_ == 1) {
      array_ = std::move(v);
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    // Behind the library's own marks and position comes what is wrong.
    std::string text = error.what();
    for (const char* mark : {"] ", ": "}) {
      if (const std::size_t at = text.rfind(mark); at != std::string::npos) text.erase(0, at + 2);
    }
    throw DataError("{}: is not valid JSON at byte {}: {}", name_, position, text);
  }

  std::set<std::string> arrays;

 private:
  bool top_is_array_ = false;

  bool in_record_array() const {
    return parents_.empty() && in_array_ && depth_ == (top_is_array_ ? 1U : 2U);
  }

  bool value(Json v) {
    if (!parents_.empty()) {
      add(std::move(v));
    } else if (in_record_array()) {
      visit_(array_, v);
    }
    return true;
  }

  bool open(Json v) {
    if (!parents_.empty() || in_record_array()) {
      if (parents_.size() >= kMaxDepth) {
        throw DataError("{}: a record of '{}' is nested more than {} deep", name_, array_,
                        kMaxDepth);
      }
      if (parents_.empty()) {
        record_ = std::move(v);
        parents_.push_back(&record_);
      } else {
        parents_.push_back(&add(std::move(v)));
      }
      return true;
    }
    if (depth_ == 0) top_is_array_ = v.is_array();
    if (v.is_array() && (depth_ == 0 || (depth_ == 1 && !top_is_array_))) {
      in_array_ = true;
      arrays.insert(array_);
    }
    ++depth_;
    return true;
  }

  bool close() {
    if (!parents_.empty()) {
      parents_.pop_back();
      if (parents_.empty()) visit_(array_, record_);
      return true;
    }
    --depth_;
    if (depth_ <= 1) in_array_ = in_array_ && top_is_array_;
    return true;
  }

  Json& add(Json v) {
    Json& parent = *parents_.back();
    if (parent.is_object()) return parent[key_] = std::move(v);
    parent.push_back(std::move(v));
    return parent.back();
  }

  const std::string& name_;
  const RecordVisitor& visit_;
  std::size_t depth_ = 0;
  bool in_array_ = false;
  std::string array_, key_;
  Json record_;
  std::vector<Json*> parents_;  // stay valid: only the innermost container grows
};

}  // namespace

std::set<std::string> read_json_records(ByteSpan json, const std::string& name,
                                        const RecordVisitor& visit) {
  RecordBuilder builder(name, visit);
  Json::sax_parse(json.begin(), json.end(), &builder);
  return std::move(builder.arrays);
}

}  // namespace addp
