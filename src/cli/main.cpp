// Finds the command, fills its options, runs it, and maps what was thrown to an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "base/run/subprocess.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/parse.h"

namespace addp {
namespace {

using Arguments = std::vector<std::string>;

// The command whose name is the longest run of leading words; `used` says how many those are.
const Command* find_command(const Arguments& arguments, std::size_t& used) {
  for (std::size_t words = std::min<std::size_t>(arguments.size(), 2); words > 0; --words) {
    const std::string name = words == 2 ? arguments[0] + " " + arguments[1] : arguments[0];
    for (const auto& command : commands()) {
      if (command.name == name) {
        used = words;
        return &command;
      }
    }
  }
  return nullptr;
}

bool is_family(const std::string& word) {
  return std::any_of(commands().begin(), commands().end(),
                     [&](const Command& c) { return c.name.starts_with(word + " "); });
}

[[noreturn]] void refuse_command(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.push_back(command.name);
  const std::string& first = arguments[0];
  if (is_family(first)) {
    if (arguments.size() < 2) {
      throw UsageError("'{}' needs to know what; 'addp {} --help' lists the choices", first, first);
    }
    const std::string both = first + " " + arguments[1];
    const auto near = nearest_name(both, names);
    throw UsageError("there is no command '{}'{}", both,
                     near ? "; did you mean '" + *near + "'?"
                          : "; 'addp " + first + " --help' lists the choices");
  }
  for (const auto& command : commands())
    names.push_back(command.name.substr(0, command.name.find(' ')));
  const auto near = nearest_name(first, names);
  throw UsageError("there is no command '{}'{}", first,
                   near ? "; did you mean '" + *near + "'?" : "; 'addp --help' lists them");
}

bool wants_help(const std::string& word) {
  return word == "--help" || word == "--help-all" || word == "-h" || word == "help";
}

void run_command(Arguments arguments) {
  if (arguments.empty() || (wants_help(arguments[0]) && arguments.size() == 1)) {
    print_stdout(overview_text());
    return;
  }
  if (arguments[0] == "--version" || arguments[0] == "-V") {
    print_stdout(fmt::format("addp {}\n", version()));
    return;
  }
  if (arguments[0] == "help") {  // addp help train addp
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  std::size_t used = 0;
  const Command* command = find_command(arguments, used);
  if (command == nullptr) {
    if (is_family(arguments[0]) && arguments.size() == 2 && wants_help(arguments[1])) {
      print_stdout(family_help_text(arguments[0]));
      return;
    }
    refuse_command(arguments);
  }
  const auto invocation = command->make();
  Options options;
  invocation->describe(options);
  CommonFlags flags;
  parse_arguments({arguments.begin() + static_cast<std::ptrdiff_t>(used), arguments.end()}, options,
                  flags);
  if (flags.help || flags.help_all) {
    print_stdout(command_help_text(*command, options, flags.help_all));
    return;
  }
  RunContext context{flags.json, "addp " + shell_line(arguments), options.to_toml()};
  if (flags.print_config) {
    print_stdout(context.configuration);
    return;
  }
  set_log_quiet(flags.quiet);
  set_progress_quiet(flags.quiet);
  install_interrupt_handler();
  invocation->run(context);
}

// Files that are opened must not take the place of a standard stream that was closed: messages
// would go into them. What is written to a closed stdout stays an error, so nothing takes it.
void fill_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is the one that is given out.
    [[maybe_unused]] const int opened =
        ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int report(const std::string& message, ExitCode code) {
  log_line("addp: ", message);
  return static_cast<int>(code);
}

}  // namespace
}  // namespace addp

int main(int argc, char** argv) {
  using addp::ExitCode;
  addp::fill_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond 'ulimit -f' then fails like one to a full disk
  try {
    addp::run_command({argv + 1, argv + argc});
    addp::finish_stdout();
    return 0;
  } catch (const addp::Error& error) {
    return addp::report(error.what(), error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = error.path1().string().substr(0, 300);
    return addp::report(
        fmt::format("{}: {}; check the path and its permissions", path, error.code().message()),
        ExitCode::kBadData);
  } catch (const std::bad_alloc&) {
    return addp::report("out of memory; use a smaller batch, picture or model", ExitCode::kRuntime);
  } catch (const std::exception& error) {
    return addp::report(error.what(), ExitCode::kRuntime);
  }
}
