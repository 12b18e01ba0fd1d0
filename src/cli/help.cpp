#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

namespace addp {
namespace {

constexpr std::size_t kWidth = 100;

// Wraps at spaces; the first line continues after `first` columns, later ones start at `indent`.
std::string wrap(const std::string& text, std::size_t indent, std::size_t first) {
  std::string out;
  std::size_t column = first, begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t length = end - begin;
    if (column > indent && column + length + 1 > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (begin > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(begin, length);
    column += length;
    begin = end + 1;
  }
  return out;
}

std::string option_line(const Option& option) {
  constexpr std::size_t kColumn = 32;
  std::string flag = option.is_positional() ? "  " + option.value_name() : "  ";
  if (!option.is_positional()) {
    for (const auto& alias : option.aliases()) {
      if (alias.size() == 1) flag += "-" + alias + ", ";
    }
    const bool on = option.is_flag() && option.default_text() == "true";
    flag += (on ? "--[no-]" : "--") + option.name();
    if (!option.is_flag()) flag += " " + option.value_name();
  }
  std::string help = option.help();
  if (option.is_required()) {
    help += " (needed)";
  } else if (!option.default_text().empty() &&
             !(option.is_flag() && option.default_text() == "false")) {
    help += fmt::format(" [{}]", option.is_flag() ? "on" : option.default_text());
  }
  if (flag.size() + 2 > kColumn) {
    return fmt::format("{}\n{}{}\n", flag, std::string(kColumn, ' '), wrap(help, kColumn, kColumn));
  }
  return fmt::format("{:<{}}{}\n", flag, kColumn, wrap(help, kColumn, kColumn));
}

std::string command_lines(const std::vector<const Command*>& listed) {
  std::string text;
  for (const Command* command : listed) {
    text += fmt::format("  {:<22}{}\n", command->name, wrap(command->summary, 24, 24));
  }
  return text;
}

}  // namespace

std::string overview_text() {
  std::string text =
      "addp - learn one encoder from your pictures that both generates and recognises\n\n"
      "Usage: addp COMMAND [options] [key=value ...]\n";
  std::vector<std::string> groups;
  for (const auto& command : commands()) {
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end()) {
      groups.push_back(command.group);
    }
  }
  for (const auto& group : groups) {
    std::vector<const Command*> listed;
    for (const auto& command : commands()) {
      if (command.group == group) listed.push_back(&command);
    }
    text += fmt::format("\n{}\n{}", group, command_lines(listed));
  }
  text += "\nExamples\n";
  for (const auto& command : commands()) {
    if (!command.examples.empty()) text += "  " + command.examples.front() + "\n";
  }
  text +=
      "\n'addp COMMAND --help' lists the options of a command. Exit codes: 0 done, 1 runtime "
      "failure,\n"
      "2 wrong usage, 3 bad data or checkpoint, 4 non-finite loss, 130 interrupted after saving.\n";
  return text;
}

std::string command_help_text(const Command& command, const Options& options, bool all) {
  std::string usage = "addp " + command.name;
  for (const auto& option : options.all()) {
    if (option.is_positional()) usage += " " + option.value_name();
  }
  std::string text = fmt::format("{}\n\nUsage: {} [options] [key=value ...]\n",
                                 wrap(command.summary, 0, 0), usage);
  if (!command.details.empty()) text += "\n" + wrap(command.details, 0, 0) + "\n";
  std::string group;
  std::size_t hidden = 0;
  for (const auto& option : options.all()) {
    if (!all && option.is_advanced()) {
      ++hidden;
      continue;
    }
    if (option.group() != group) {
      group = option.group();
      text += fmt::format("\n{}\n", group);
    }
    text += option_line(option);
  }
  if (!command.examples.empty()) text += "\nExamples\n";
  for (const auto& example : command.examples) text += "  " + example + "\n";
  if (hidden > 0) {
    text += fmt::format("\n'addp {} --help-all' shows {} more options.\n", command.name, hidden);
  }
  return text;
}

std::string family_help_text(const std::string& first_word) {
  std::vector<const Command*> listed;
  for (const auto& command : commands()) {
    if (command.name.starts_with(first_word + " ")) listed.push_back(&command);
  }
  return fmt::format("Usage: addp {} ...\n\n{}", first_word, command_lines(listed));
}

}  // namespace addp
