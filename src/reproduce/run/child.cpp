#include "reproduce/run/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace addp {
namespace {

// Only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* words, int output, int errors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it went before the line above
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execvp(words[0], words);
  ::_exit(127);
}

int open_for_writing(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw RuntimeError("{}: cannot be written: {}", path, std::strerror(errno));
  return file;
}

}  // namespace

Child::Child(const std::vector<std::string>& words, const std::filesystem::path& output,
             const std::filesystem::path& errors) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int out = open_for_writing(output), err = open_for_writing(errors);
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ == 0) become(arguments.data(), out, err, parent);
  const int problem = errno;
  ::close(out);
  ::close(err);
  if (id_ < 0) throw RuntimeError("no process can be started: {}", std::strerror(problem));
}

Child::Child(Child&& other) noexcept : id_(other.id_) { other.id_ = -1; }

Child::~Child() {
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

std::optional<Child::End> Child::ended() {
  int status = 0;
  rusage used{};
  if (::wait4(id_, &status, WNOHANG, &used) != id_) return {};
  id_ = -1;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return End{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
             seconds(used.ru_utime) + seconds(used.ru_stime)};
}

void Child::interrupt() const { ::kill(id_, SIGINT); }

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace addp
