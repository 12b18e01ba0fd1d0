// Other programs, through the shell.
#pragma once

#include <string>
#include <vector>

namespace addp {

// As a shell takes it for one word, whatever is in it; plain words stay as they are.
std::string shell_quoted(const std::string& text);
std::string shell_line(const std::vector<std::string>& words);

struct ProgramResult {
  int code = 0;
  std::string output;  // standard output; errors go where ours go
};
ProgramResult run_program(const std::vector<std::string>& words);

}  // namespace addp
