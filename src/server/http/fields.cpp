#include "server/http/fields.h"

#include "base/file/base64.h"
#include "base/option/options.h"
#include "server/http/http_error.h"

namespace addp {
namespace {

using nlohmann::json;

std::string scalar_text(const std::string& name, const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  throw HttpError(400, "{}: give a text, a number or true or false", name);
}

std::string value_text(const std::string& name, const json& value) {
  if (!value.is_array()) return scalar_text(name, value);
  std::string text;
  for (const json& item : value) {
    if (item.is_string()) {
      throw HttpError(400, "{}: a list of texts is not understood here", name);
    }
    text += (text.empty() ? "" : ",") + scalar_text(name, item);
  }
  return text;
}

HttpError too_large(const HttpLimits& limits) {
  return HttpError(413, "the body is larger than {} MiB; send less at a time",
                   limits.body_bytes >> 20);
}

std::string kind_of(const std::string& type) {
  std::string kind = type.substr(0, type.find(';'));
  while (!kind.empty() && kind.back() == ' ') kind.pop_back();
  for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return kind;
}

// The parts of a multipart body. httplib gives a part's header first, then its content in pieces.
class PartReader {
 public:
  PartReader(Fields& fields, const HttpLimits& limits) : fields_(fields), limits_(limits) {}

  bool begin(const httplib::MultipartFormData& part) {
    finish();
    if (++count_ > limits_.parts) {
      problem_ = "the form has too many parts";
      return false;
    }
    if (part.name.size() > limits_.part_name_bytes) {
      problem_ = "the name of a part is too long";
      return false;
    }
    name_ = part.name;
    is_file_ = !part.filename.empty() || part.content_type.starts_with("image/");
    open_ = true;
    return true;
  }

  bool add(const char* data, std::size_t size) {
    if (!open_ || (total_ += size) > limits_.body_bytes) return false;
    content_.append(data, size);
    return true;
  }

  void finish() {
    if (!open_) return;
    // OpenAI's clients call the one picture of a list "image[]".
    if (name_.ends_with("[]")) name_.resize(name_.size() - 2);
    if (is_file_) {
      fields_.files[name_].assign(content_.begin(), content_.end());
    } else {
      fields_.texts[normalise_option_name(name_)] = content_;
    }
    content_.clear();
    open_ = false;
  }

  const std::string& problem() const { return problem_; }
  bool too_large() const { return total_ > limits_.body_bytes; }

 private:
  Fields& fields_;
  const HttpLimits& limits_;
  std::string name_, content_, problem_;
  std::size_t count_ = 0, total_ = 0;
  bool is_file_ = false, open_ = false;
};

void read_parts(Fields& fields, const httplib::ContentReader& reader, const HttpLimits& limits) {
  PartReader parts(fields, limits);
  const bool read =
      reader([&](const httplib::MultipartFormData& part) { return parts.begin(part); },
             [&](const char* data, std::size_t size) { return parts.add(data, size); });
  if (parts.too_large()) throw too_large(limits);
  if (!parts.problem().empty()) throw HttpError(400, "{}", parts.problem());
  if (!read) throw HttpError(400, "the multipart body cannot be read; is its boundary right?");
  parts.finish();
}

}  // namespace

const Bytes* Fields::find_file(const std::string& name) {
  const auto found = files.find(name);
  if (found != files.end()) return &found->second;
  const auto text = texts.find(name);
  if (text == texts.end()) return nullptr;
  std::string_view digits = text->second;
  if (digits.starts_with("data:")) {
    const std::size_t comma = digits.find(";base64,");
    if (comma == std::string_view::npos) {
      throw HttpError(400, "{}: of data: addresses, only base64 is understood", name);
    }
    digits.remove_prefix(comma + 8);
  }
  auto bytes = from_base64(digits);
  if (!bytes || bytes->empty()) {
    throw HttpError(400, "{}: is neither a file nor one in base64; addresses are never opened",
                    name);
  }
  texts.erase(text);
  return &(files[name] = std::move(*bytes));
}

const Bytes& Fields::file(const std::string& name, std::string_view what_for) {
  const Bytes* found = find_file(name);
  if (found == nullptr) throw HttpError(400, "'{}' is missing: {}", name, what_for);
  return *found;
}

json parse_json(std::string_view text, int max_depth) {
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    if (depth >= max_depth) {
      throw HttpError(400, "the JSON is nested deeper than {} levels", max_depth);
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception&) {
    throw HttpError(400, "the body is not JSON");
  }
}

void add_json_fields(Fields& fields, const json& object) {
  if (!object.is_object()) throw HttpError(400, "the body is JSON, but not an object");
  for (const auto& [key, value] : object.items()) {
    if (value.is_null()) continue;
    fields.texts[normalise_option_name(key)] = value_text(key, value);
  }
}

void add_body(Fields& fields, const std::string& type, std::string&& body,
              const HttpLimits& limits) {
  const std::string kind = kind_of(type);
  if (kind == "application/json") {
    if (!body.empty()) add_json_fields(fields, parse_json(body, limits.json_depth));
  } else if (kind.starts_with("image/") || kind == "application/octet-stream") {
    fields.files["image"].assign(body.begin(), body.end());
  } else if (!body.empty()) {
    throw HttpError(415,
                    "send JSON (application/json), a form (multipart/form-data) or a picture "
                    "(image/png, image/jpeg, image/webp)");
  }
}

void add_query(Fields& fields, const httplib::Request& request) {
  for (const auto& [name, value] : request.params) {
    fields.texts[normalise_option_name(name)] = value;
  }
}

Fields read_fields(const httplib::Request& request, const httplib::ContentReader& reader,
                   const HttpLimits& limits) {
  if (request.get_header_value<std::uint64_t>("Content-Length") > limits.body_bytes) {
    throw too_large(limits);
  }
  Fields fields;
  add_query(fields, request);
  const std::string type = request.get_header_value("Content-Type");
  if (request.is_multipart_form_data()) {
    read_parts(fields, reader, limits);
    return fields;
  }
  std::string body;
  bool large = false;
  const bool read = reader([&](const char* data, std::size_t size) {
    large = body.size() + size > limits.body_bytes;
    if (!large) body.append(data, size);
    return !large;
  });
  if (large) throw too_large(limits);
  if (!read) throw HttpError(400, "the body ended before all of it had come");
  add_body(fields, type, std::move(body), limits);
  return fields;
}

}  // namespace addp
