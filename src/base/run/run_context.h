// What every command body is given beside its options: how it was called and how to answer.
#pragma once

#include <filesystem>
#include <string>

namespace addp {

struct RunContext {
  bool json = false;          // --json: one JSON value on stdout instead of text
  std::string command_line;   // as typed, for the record beside the results
  std::string configuration;  // the resolved options as TOML

  // Clears FOLDER of what killed writers left; writes config.toml: options below the command line.
  void write_configuration(const std::filesystem::path& folder) const;
  // The same as FILE.config.toml for a result that is one file: its folder may be that of a run,
  // whose config.toml is another command's.
  void write_configuration_beside(const std::filesystem::path& file) const;

 private:
  std::string record() const;
};

// Text to stdout, control characters as \xNN. A short write is found by finish_stdout().
void print_stdout(const std::string& text);
// Flushes stdout; a RuntimeError if anything could not be written (a full disk, a closed pipe).
void finish_stdout();

}  // namespace addp
