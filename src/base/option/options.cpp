#include "base/option/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/printable.h"

namespace addp {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

bool parse_value(std::string_view text, bool& value) {
  const bool yes = text == "true" || text == "1" || text == "yes" || text == "on";
  const bool no = text == "false" || text == "0" || text == "no" || text == "off";
  value = yes;
  return yes || no;
}

bool parse_value(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_value(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !std::isnan(value);
}

bool parse_value(std::string_view text, std::string& value) {
  value = text;
  return true;
}

bool parse_value(std::string_view text, std::filesystem::path& value) {
  value = text;
  return true;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return items;
}

const char* type_name(bool) { return "true or false"; }
const char* type_name(std::int64_t) { return "a whole number"; }
const char* type_name(double) { return "a number"; }
const char* type_name(const std::string&) { return "a text"; }
const char* type_name(const std::filesystem::path&) { return "a path"; }

template <class T>
T parse_or_throw(const std::string& option, std::string_view text) {
  T value{};
  if (!parse_value(text, value)) {
    throw UsageError("--{}: '{}' is not {}", option, text, type_name(value));
  }
  return value;
}

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::filesystem::path& value) { return value.string(); }
std::string text_of(double value) { return fmt::format("{}", value); }  // shortest that reads back

template <class T>
std::string text_of(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ",") + text_of(item);
  return text;
}

std::string toml_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string toml_of(bool value) { return text_of(value); }
std::string toml_of(std::int64_t value) { return text_of(value); }
std::string toml_of(const std::string& value) { return toml_string(value); }
std::string toml_of(const std::filesystem::path& value) { return toml_string(value.string()); }
std::string toml_of(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const std::string text = text_of(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}
template <class T>
std::string toml_of(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ", ") + toml_of(item);
  return "[" + text + "]";
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += item;
  }
  return text;
}

template <class Field, class Value>
Option& assigned(Option& option, Field& field, Value&& value) {
  field = std::forward<Value>(value);
  return option;
}

}  // namespace

std::string normalise_option_name(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return text;
}

Option::Option(std::string name, Target target, std::string help)
    : name_(std::move(name)), help_(std::move(help)), target_(target) {
  default_ = value_text();
}

Option& Option::range(double low, double high) {
  return assigned(*this, range_, std::pair(low, high));
}

Option& Option::choices(std::vector<std::string> names) {
  return assigned(*this, choices_, std::move(names));
}

Option& Option::alias(std::string flag) {
  aliases_.push_back(std::move(flag));
  return *this;
}

Option& Option::required() { return assigned(*this, required_, true); }
Option& Option::positional() { return assigned(*this, positional_, true); }
Option& Option::metavar(std::string name) { return assigned(*this, metavar_, std::move(name)); }
Option& Option::advanced() { return assigned(*this, advanced_, true); }
Option& Option::common() { return assigned(*this, advanced_, false); }

void Option::set(std::string_view text) {
  std::visit(Overloaded{[&]<class T>(std::vector<T>*) { set_list(split_list(text)); },
                        [&]<class T>(T* target) { *target = parse_or_throw<T>(name_, text); }},
             target_);
  was_set_ = true;
  check();
}

void Option::set_list(const std::vector<std::string>& items) {
  std::visit(Overloaded{[&]<class T>(std::vector<T>* target) {
                          target->clear();
                          for (const auto& item : items) {
                            target->push_back(parse_or_throw<T>(name_, item));
                          }
                        },
                        [&](auto*) {
                          if (items.size() != 1) {
                            throw UsageError("--{}: takes one value, {} were given", name_,
                                             items.size());
                          }
                          set(items.front());
                        }},
             target_);
  was_set_ = true;
  check();
}

void Option::check_text(std::string_view text) const {
  if (choices_.empty() || std::find(choices_.begin(), choices_.end(), text) != choices_.end()) {
    return;
  }
  const auto near = nearest_name(text, choices_);
  throw UsageError("--{}: '{}' is not one of {}{}", name_, text, join(choices_, ", "),
                   near ? "; did you mean '" + *near + "'?" : "");
}

void Option::check() const {
  if (required_ && !was_set_) throw UsageError("--{} is needed: {}", name_, help_);
  if (required_ && value_text().empty()) {
    throw UsageError("--{} is empty; it is needed: {}", name_, help_);
  }
  const auto check_number = [this](double value) {
    if (!range_ || (value >= range_->first && value <= range_->second)) return;
    throw UsageError("--{}: {} is outside {} to {}", name_, value, range_->first, range_->second);
  };
  std::visit(
      Overloaded{[&](const std::int64_t* value) { check_number(static_cast<double>(*value)); },
                 [&](const double* value) { check_number(*value); },
                 [&](const std::string* value) { check_text(*value); },
                 [&](const std::vector<std::int64_t>* values) {
                   for (const auto v : *values) check_number(static_cast<double>(v));
                 },
                 [&](const std::vector<double>* values) {
                   for (const auto v : *values) check_number(v);
                 },
                 [&](const std::vector<std::string>* values) {
                   for (const auto& v : *values) check_text(v);
                 },
                 [](const auto*) {}},
      target_);
}

std::string Option::value_text() const {
  return std::visit([](const auto* value) { return text_of(*value); }, target_);
}

std::string Option::value_toml() const {
  return std::visit([](const auto* value) { return toml_of(*value); }, target_);
}

std::string Option::value_name() const {
  if (!metavar_.empty()) return metavar_;
  if (!choices_.empty()) return join(choices_, "|");
  return std::visit(
      Overloaded{[](const bool*) { return ""; }, [](const std::int64_t*) { return "N"; },
                 [](const double*) { return "X"; }, [](const std::string*) { return "TEXT"; },
                 [](const std::filesystem::path*) { return "PATH"; },
                 [](const std::vector<std::string>*) { return "TEXT,.."; },
                 [](const std::vector<std::int64_t>*) { return "N,.."; },
                 [](const std::vector<double>*) { return "X,.."; }},
      target_);
}

void Options::group(std::string title) {
  group_ = std::move(title);
  advanced_ = false;
}

void Options::advanced_group(std::string title) {
  group_ = std::move(title);
  advanced_ = true;
}

Option& Options::add_option(Option option) {
  option.group_ = group_;
  option.advanced_ = advanced_;
  options_.push_back(std::move(option));
  return options_.back();
}

Option* Options::find(std::string_view name) {
  const std::string wanted = normalise_option_name(name);
  for (auto& option : options_) {
    if (option.name_ == wanted) return &option;
    const auto& others = option.aliases_;
    if (std::find(others.begin(), others.end(), wanted) != others.end()) return &option;
  }
  return nullptr;
}

Option& Options::get(std::string_view name) {
  if (Option* option = find(name)) return *option;
  std::vector<std::string> names;
  for (const auto& option : options_) names.push_back(option.name_);
  const auto near = nearest_name(normalise_option_name(name), names);
  throw UsageError("there is no option '{}'{}; --help lists them", name,
                   near ? "; did you mean '" + *near + "'?" : "");
}

void Options::check() const {
  for (const auto& option : options_) option.check();
}

void Options::resolve() const {
  for (const auto& resolver : resolvers_) resolver();
}

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  // Optimal string alignment: insertions, deletions, substitutions and swapped
  // neighbours count one.
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
      for (std::size_t j = 0; j <= b.size(); ++j) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                               cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
          cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[a.size()][b.size()];
  };
  std::optional<std::string> best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  if (word.size() > 64) return best;
  for (const auto& candidate : candidates) {
    const std::size_t d = distance(word, candidate);
    const std::size_t allowed =
        std::max<std::size_t>(1, std::min(word.size(), candidate.size()) / 3 + 1);
    if (d <= allowed && d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace addp
