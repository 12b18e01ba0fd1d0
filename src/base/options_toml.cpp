// Options from and to TOML.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <sstream>

#include "base/error.h"
#include "base/file_io.h"
#include "base/options.h"

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

// The parser's test for exotic blanks has undefined behaviour for some letters, and recipes need
// none outside of comments and one-line strings: they are refused before it sees them.
void check_letters(std::string_view text, const std::string& source) {
  char quote = 0;  // of the string we are in, or '#' in a comment
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'' || c == '#')) {
      const bool long_string = c != '#' && text.substr(i, 3) == std::string(3, c);
      if (long_string)
        i += 2;  // its inside counts as plain text
      else
        quote = c;
    } else if (quote == '"' && c == '\\') {
      ++i;
    } else if (c == quote && quote != '#') {
      quote = 0;
    } else if (quote == 0 && static_cast<unsigned char>(c) >= 0x80) {
      throw DataError("{}:{}: has a letter that is not ASCII outside of comments and strings",
                      source, line);
    }
  }
}

}  // namespace

void Options::load_toml(const std::filesystem::path& path) {
  load_toml_text(read_text_file(path, kMaxRecipeBytes), path.string());
}

void Options::load_toml_text(std::string_view text, const std::string& source) {
  check_letters(text, source);
  toml::table table;
  try {
    table = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw DataError("{}:{}: is not valid TOML: {}", source, error.source().begin.line,
                    error.description());
  }
  load_table(*this, table, "", source);
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
