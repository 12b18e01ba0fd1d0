#include "base/run/run_context.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/file/folder.h"
#include "base/printable.h"

namespace addp {

void RunContext::write_configuration(const std::filesystem::path& folder) const {
  make_folder(folder);
  remove_leftovers(folder);
  write_file_atomically(folder / "config.toml", record());
}

void RunContext::write_configuration_beside(const std::filesystem::path& file) const {
  std::filesystem::path place = file;
  place += ".config.toml";
  write_file_atomically(place, record());
}

std::string RunContext::record() const {
  return fmt::format("# {}\n\n{}", command_line, configuration);
}

void print_stdout(const std::string& text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void finish_stdout() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw RuntimeError("standard output could not be written: {}", std::strerror(errno));
  }
}

}  // namespace addp
