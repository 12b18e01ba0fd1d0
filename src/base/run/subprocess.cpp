#include "base/run/subprocess.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "base/error.h"

namespace addp {

std::string shell_quoted(const std::string& text) {
  const bool plain =
      !text.empty() && text.find_first_of(" \t\n'\"\\$*?;|&<>()`#~!{}[]") == std::string::npos;
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

ProgramResult run_program(const std::vector<std::string>& words) {
  FILE* pipe = popen(shell_line(words).c_str(), "r");
  if (pipe == nullptr) throw RuntimeError("{} could not be started", words.at(0));
  ProgramResult result;
  std::array<char, 4096> block{};
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
    result.output.append(block.data(), got);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace addp
