// Every failure the program can name. The library throws; main() catches once and maps
// to exit codes.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

template <>
struct fmt::formatter<std::filesystem::path> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const std::filesystem::path& path, Context& ctx) const {
    return fmt::formatter<std::string>::format(path.string(), ctx);
  }
};

namespace addp {

enum class ExitCode {
  kOk = 0,            // everything asked for was written
  kRuntime = 1,       // disk full, out of memory, network, ...
  kUsage = 2,         // a wrong command, option or value
  kBadData = 3,       // a picture, data set, checkpoint or configuration file that cannot be used
  kNonFinite = 4,     // the loss became NaN or infinite
  kInterrupted = 130  // SIGINT or SIGTERM, after saving
};

// The message is one sentence that names the bad value and the remedy.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// One class per exit code, so that `throw DataError("{}: ...", path)` reads as what it means.
template <ExitCode Code>
class CodedError : public Error {
 public:
  template <class... Args>
  explicit CodedError(fmt::format_string<Args...> format, Args&&... args)
      : Error(Code, fmt::format(format, std::forward<Args>(args)...)) {}
};

using RuntimeError = CodedError<ExitCode::kRuntime>;
using UsageError = CodedError<ExitCode::kUsage>;
using DataError = CodedError<ExitCode::kBadData>;
using NonFiniteError = CodedError<ExitCode::kNonFinite>;
using InterruptedError = CodedError<ExitCode::kInterrupted>;

}  // namespace addp
