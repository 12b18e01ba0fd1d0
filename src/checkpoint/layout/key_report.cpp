#include "checkpoint/layout/key_report.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace addp {

bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(name, pattern); });
}

KeyReport compare_keys(const ShapeMap& expected, const TensorMap& found,
                       const CompareOptions& options) {
  KeyReport report;
  for (const auto& [name, shape] : expected) {
    const auto there = found.find(name);
    if (there == found.end()) {
      if (!matches_any(name, options.allow_missing)) report.missing.push_back(name);
    } else if (there->second.shape != shape) {
      report.mis_shaped.push_back({name, shape, there->second.shape});
    } else {
      ++report.matched;
    }
  }
  for (const auto& [name, tensor] : found) {
    if (expected.contains(name)) continue;
    (matches_any(name, options.ignore) ? report.ignored : report.unexpected).push_back(name);
  }
  return report;
}

std::string KeyReport::to_string() const {
  if (ok()) return "";
  std::string text = fmt::format("{} missing, {} unexpected, {} mis-shaped, {} matching keys",
                                 missing.size(), unexpected.size(), mis_shaped.size(), matched);
  auto out = std::back_inserter(text);
  for (const std::string& name : missing) fmt::format_to(out, "\n  missing     {}", name);
  for (const std::string& name : unexpected) fmt::format_to(out, "\n  unexpected  {}", name);
  for (const Shape& shape : mis_shaped) {
    fmt::format_to(out, "\n  mis-shaped  {}: expected {}, found {}", shape.name,
                   shape_text(shape.expected), shape_text(shape.found));
  }
  return text;
}

void KeyReport::require(const std::string& file) const {
  if (ok()) return;
  throw DataError(
      "{}: its tensors do not fit this network: {}\n('addp doctor {}' shows what it is)", file,
      to_string(), file);
}

TensorMap with_prefix_removed(const TensorMap& tensors, const std::string& prefix) {
  TensorMap inside;
  for (auto item = tensors.lower_bound(prefix);
       item != tensors.end() && item->first.starts_with(prefix); ++item) {
    inside.emplace(item->first.substr(prefix.size()), item->second);
  }
  return inside;
}

}  // namespace addp
