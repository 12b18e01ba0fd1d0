// Options from and to TOML.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/option/options.h"
#include "base/option/toml_settings.h"
#include "base/printable.h"

namespace addp {
namespace {

constexpr std::size_t kMaxRecipeBytes = std::size_t{1} << 20;

std::string scalar_text(const toml::node& node, const std::string& where) {
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return std::to_string(value->get());
  if (const auto* value = node.as_floating_point()) return fmt::format("{}", value->get());
  if (const auto* value = node.as_boolean()) return value->get() ? "true" : "false";
  throw DataError("{}: dates and nested values cannot be option values", where);
}

void set_option(Options& options, const std::string& name, const toml::node& node,
                const std::string& where) {
  try {
    Option& option = options.get(name);
    if (const auto* items = node.as_array()) {
      std::vector<std::string> texts;
      for (const auto& item : *items) texts.push_back(scalar_text(item, where));
      option.set_list(texts);
    } else {
      option.set(scalar_text(node, where));
    }
  } catch (const UsageError& error) {
    throw DataError("{}: {}", where, error.what());
  }
}

void load_table(Options& options, const toml::table& table, const std::string& prefix,
                const std::string& source) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      load_table(options, *inner, name + "-", source);
    } else {
      set_option(options, name, node, fmt::format("{}:{}", source, node.source().begin.line));
    }
  }
}

// The same recipe in ASCII: letters beyond it become escapes in strings and vanish from comments,
// and are refused elsewhere. (The parser's test for exotic blanks has undefined behaviour for some
// of them, so it gets to see none.)
std::string to_ascii(std::string_view text, const std::string& source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string out;
  char quote = 0;  // of the one-line string we are in, or '#' in a comment
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      if (quote == '#') continue;
      const auto [point, length] = decode_utf8(text, i);
      if (quote != '"' || length == 0) {
        throw DataError(
            "{}:{}: letters beyond ASCII belong in comments and in \"one-line strings\"", source,
            line);
      }
      out += fmt::format("\\U{:08X}", point);
      i += length - 1;
      continue;
    }
    out += c;
    if (c == '\n') {
      ++line;
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '#' || c == '\'')) {
      quote = c;
    } else if (quote == '"' && c == '\\' && i + 1 < text.size() &&
               (text[i + 1] == '"' || text[i + 1] == '\\')) {
      out += text[++i];
    } else if (c == quote && quote != '#') {
      quote = 0;
    }
  }
  return out;
}

// Deeper than any recipe, and shallow enough for the parser's and our own recursion.
constexpr std::ptrdiff_t kMaxDots = 64;

// A key of thousands of dotted parts would be a table in a table in a table, each of which takes
// its share of the stack.
void require_shallow(std::string_view text, const std::string& source) {
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const std::string_view key = row.substr(0, row.find_first_of("=\"'#"));
    if (std::count(key.begin(), key.end(), '.') > kMaxDots) {
      throw DataError("{}:{}: a key has more than {} parts; name the option itself", source, line,
                      kMaxDots);
    }
    begin = end + 1;
  }
}

toml::table parse_toml(std::string_view text, const std::string& source) {
  const std::string ascii = to_ascii(text, source);
  require_shallow(ascii, source);
  try {
    return toml::parse(ascii, source);
  } catch (const toml::parse_error& error) {
    throw DataError("{}:{}: is not valid TOML: {}", source, error.source().begin.line,
                    error.description());
  }
}

std::string value_text(const toml::node& node, const std::string& where) {
  const auto* items = node.as_array();
  if (items == nullptr) return scalar_text(node, where);
  std::string text;
  for (const auto& item : *items) text += (text.empty() ? "" : ", ") + scalar_text(item, where);
  return "[" + text + "]";
}

void collect_settings(const toml::table& table, const std::string& prefix,
                      const std::string& source, std::map<std::string, std::string>& settings) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      collect_settings(*inner, name + "-", source, settings);
    } else {
      settings[name] = value_text(node, source);
    }
  }
}

}  // namespace

void Options::load_toml(const std::filesystem::path& path) {
  load_toml_text(read_text_file(path, kMaxRecipeBytes), path.string());
}

void Options::load_toml_text(std::string_view text, const std::string& source) {
  load_table(*this, parse_toml(text, source), "", source);
}

std::map<std::string, std::string> toml_settings(std::string_view text, const std::string& source) {
  std::map<std::string, std::string> settings;
  collect_settings(parse_toml(text, source), "", source, settings);
  return settings;
}

std::string Options::to_toml() const {
  std::string text, group;
  for (const auto& option : options_) {
    if (option.group_ != group) {
      group = option.group_;
      text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", group);
    }
    text += fmt::format("{} = {}  # {}\n", option.name_, option.value_toml(), option.help_);
  }
  return text;
}

}  // namespace addp
