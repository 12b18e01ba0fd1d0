#include "server/requests/describe.h"

#include <algorithm>

namespace addp {
namespace {

using nlohmann::json;

const char* type_of(const Option& option) {
  if (option.is_flag()) return "boolean";
  if (option.is_integer()) return "integer";
  return option.is_number() ? "number" : "string";
}

json default_of(const Option& option) {
  const std::string& text = option.default_text();
  if (!option.is_list() && (option.is_flag() || option.is_number())) {
    return json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  return text;
}

void add_limits(const Option& option, json& out) {
  if (option.limits()) {
    out["minimum"] = option.limits()->first;
    out["maximum"] = option.limits()->second;
  }
}

std::string snake_case(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

void fill(Options& options, const Fields& fields) {
  for (const auto& [name, value] : fields.texts) options.get(name).set(value);
  options.check();
  options.resolve();
}

json settings_json(const Options& options) {
  json all = json::array();
  for (const Option& option : options.all()) {
    json one = {{"name", option.name()},
                {"type", type_of(option)},
                {"default", default_of(option)},
                {"help", option.help()}};
    add_limits(option, one);
    if (!option.allowed().empty()) one["choices"] = option.allowed();
    all.push_back(one);
  }
  return all;
}

json schema_json(const Options& options) {
  json all = json::object();
  for (const Option& option : options.all()) {
    json one = {{"type", type_of(option)}, {"description", option.help()}};
    if (!option.allowed().empty()) one["enum"] = option.allowed();
    add_limits(option, one);
    if (option.is_list()) {
      one = {{"type", "array"},
             {"items", {{"type", type_of(option)}}},
             {"description", option.help()}};
    } else if (!option.default_text().empty()) {
      one["default"] = default_of(option);
    }
    all[snake_case(option.name())] = one;
  }
  return all;
}

}  // namespace addp
