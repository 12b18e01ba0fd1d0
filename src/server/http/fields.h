// What a request brings, whatever form it comes in: the query, a JSON object, a multipart form or
// plain bytes of a picture, all as texts and files by name.
#pragma once

#include <httplib.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/file/file_io.h"
#include "server/http/limits.h"

namespace addp {

struct Fields {
  std::map<std::string, std::string> texts;  // names with '_' as '-'
  std::map<std::string, Bytes> files;

  // The file of a name, or the bytes that a text of that name is in base64 or as a data: URL. Null
  // where there is none; an HttpError where the text is no base64.
  const Bytes* find_file(const std::string& name);
  const Bytes& file(const std::string& name, std::string_view what_for);
};

// The tree, no deeper than allowed; an HttpError says what is wrong.
nlohmann::json parse_json(std::string_view text, int max_depth);
// Texts and numbers as texts, arrays of numbers separated by commas. An HttpError for what a field
// cannot be (objects within objects).
void add_json_fields(Fields& fields, const nlohmann::json& object);
// A whole body that is not multipart, by its Content-Type; pictures become the file "image".
void add_body(Fields& fields, const std::string& type, std::string&& body,
              const HttpLimits& limits);

// Query and body; reads the latter within the limits.
Fields read_fields(const httplib::Request& request, const httplib::ContentReader& reader,
                   const HttpLimits& limits);
void add_query(Fields& fields, const httplib::Request& request);

}  // namespace addp
