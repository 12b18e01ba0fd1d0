#include "processes/launch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/log.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kInterruptedCode = static_cast<int>(ExitCode::kInterrupted);

// A socket that already listens, so that no other program can take the port before rank 0 does.
class ListeningSocket {
 public:
  ListeningSocket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (descriptor_ < 0 || ::bind(descriptor_, generic, length) != 0 ||
        ::listen(descriptor_, SOMAXCONN) != 0 ||
        ::getsockname(descriptor_, generic, &length) != 0) {
      throw RuntimeError("no port of 127.0.0.1 can be opened for the processes to meet: {}",
                         std::strerror(errno));
    }
    port_ = ntohs(address.sin_port);
  }
  ~ListeningSocket() { close(); }
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  int descriptor() const { return descriptor_; }
  int port() const { return port_; }

 private:
  int descriptor_, port_ = 0;
};

// Signals that are waited for instead of being handled, for the life of the object.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&waited_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&waited_, number);
    ::pthread_sigmask(SIG_BLOCK, &waited_, &before_);
    // Where SIGCHLD is ignored, the kernel throws the exit codes away.
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &plain, &child_before_);
  }
  ~BlockedSignals() {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The next signal, or 0 after a fifth of a second.
  int next() const {
    const timespec patience{0, 200'000'000};
    const int number = ::sigtimedwait(&waited_, nullptr, &patience);
    return number > 0 ? number : 0;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t waited_{}, before_{};
  struct sigaction child_before_ {};
};

std::vector<std::string> own_arguments() {
  // The kernel gives this file no size, so it is read to its end.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> arguments;
  for (std::size_t start = 0; start < text.size();) {
    arguments.emplace_back(text.c_str() + start);
    start += arguments.back().size() + 1;
  }
  return arguments;
}

int usable_threads() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

std::vector<std::string> environment_of(int rank, const LaunchOptions& options,
                                        const ListeningSocket& socket) {
  std::vector<std::string> lines = {fmt::format("RANK={}", rank),
                                    fmt::format("WORLD_SIZE={}", options.processes),
                                    fmt::format("LOCAL_RANK={}", rank),
                                    fmt::format("LOCAL_WORLD_SIZE={}", options.processes),
                                    "MASTER_ADDR=127.0.0.1",
                                    fmt::format("MASTER_PORT={}", socket.port()),
                                    fmt::format("ADDP_LISTEN_DESCRIPTOR={}", socket.descriptor())};
  if (options.threads > 0 || std::getenv("OMP_NUM_THREADS") == nullptr) {
    const int threads = options.threads > 0 ? options.threads : usable_threads();
    lines.push_back(fmt::format("OMP_NUM_THREADS={}", std::max(1, threads / options.processes)));
  }
  const std::size_t own = lines.size();
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string_view name(*line, std::strcspn(*line, "=") + 1);
    const bool replaced = std::any_of(lines.begin(), lines.begin() + static_cast<int>(own),
                                      [&](const std::string& l) { return l.starts_with(name); });
    if (!replaced) lines.emplace_back(*line);
  }
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& lines) {
  std::vector<char*> list;
  for (auto& line : lines) list.push_back(line.data());
  list.push_back(nullptr);
  return list;
}

// Between fork and exec only async-signal-safe calls are allowed, so everything is ready before.
[[noreturn]] void become_rank(int rank, pid_t parent, const char* program, char** arguments,
                              char** environment, int listening, const sigset_t& mask) {
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  // A group of its own: Ctrl-C in a terminal then reaches a rank once, through the launcher, and
  // not a second time directly, which would end it before it has saved.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kInterruptedCode);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDIN_FILENO);
  if (nowhere >= 0 && rank > 0) ::dup2(nowhere, STDOUT_FILENO);
  if (rank == 0) ::fcntl(listening, F_SETFD, 0);
  ::execve(program, arguments, environment);
  ::_exit(127);
}

// The ranks that were started, and what has become of them.
class Ranks {
 public:
  explicit Ranks(const LaunchOptions& options) : options_(options) {}
  ~Ranks() { kill_and_reap(); }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  void start(const BlockedSignals& signals);
  int wait(const BlockedSignals& signals);

 private:
  void reap();
  void ended(int rank, int status);
  void send(int number) const;
  void keep_time();
  void kill_and_reap();

  const LaunchOptions& options_;
  std::vector<pid_t> running_;  // by rank; 0 once it has ended
  int code_ = 0;
  bool interrupted_ = false;
  std::optional<Clock::time_point> kill_at_;
};

void Ranks::start(const BlockedSignals& signals) {
  ListeningSocket socket;
  auto arguments = options_.arguments.empty() ? own_arguments() : options_.arguments;
  const std::string program = options_.arguments.empty() ? "/proc/self/exe" : arguments.at(0);
  const auto argument_list = pointers(arguments);
  const pid_t parent = ::getpid();
  for (int rank = 0; rank < options_.processes; ++rank) {
    auto environment = environment_of(rank, options_, socket);
    const auto environment_list = pointers(environment);
    const pid_t child = ::fork();
    if (child == 0) {
      become_rank(rank, parent, program.c_str(), const_cast<char**>(argument_list.data()),
                  const_cast<char**>(environment_list.data()), socket.descriptor(),
                  signals.before());
    }
    if (child < 0) {
      throw RuntimeError("process {} of {} cannot be started: {}", rank, options_.processes,
                         std::strerror(errno));
    }
    running_.push_back(child);
  }
}

void Ranks::send(int number) const {
  for (const pid_t child : running_) {
    if (child > 0) ::kill(child, number);
  }
}

void Ranks::ended(int rank, int status) {
  running_[static_cast<std::size_t>(rank)] = 0;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ExitCode::kRuntime);
  if (code == 0) return;
  if (WIFSIGNALED(status) && code_ == 0) {
    warn("rank {} of {} was ended by signal {} ({}); the others are ended too", rank,
         options_.processes, WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  // Rank 0 saves: whether that succeeded counts for more than that others were interrupted.
  const bool first = code_ == 0 || (code_ == kInterruptedCode && rank == 0);
  if (first) code_ = code;
  // After an interrupt the ranks save and end by themselves, however long that takes: another
  // signal would stop the saving.
  const bool interrupt = interrupted_ || code_ == kInterruptedCode || code == kInterruptedCode;
  if (!interrupt && !kill_at_) {
    send(SIGTERM);
    kill_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(options_.grace_seconds));
  }
}

void Ranks::reap() {
  for (std::size_t rank = 0; rank < running_.size(); ++rank) {
    int status = 0;
    if (running_[rank] > 0 && ::waitpid(running_[rank], &status, WNOHANG) == running_[rank]) {
      ended(static_cast<int>(rank), status);
    }
  }
}

void Ranks::keep_time() {
  if (kill_at_ && Clock::now() >= *kill_at_) send(SIGKILL);
}

int Ranks::wait(const BlockedSignals& signals) {
  const auto alive = [](pid_t child) { return child > 0; };
  while (std::any_of(running_.begin(), running_.end(), alive)) {
    const int number = signals.next();
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
      send(number == SIGHUP ? SIGTERM : number);
      interrupted_ = true;
    }
    reap();
    keep_time();
  }
  return code_;
}

void Ranks::kill_and_reap() {
  send(SIGKILL);
  for (const pid_t child : running_) {
    if (child > 0) ::waitpid(child, nullptr, 0);
  }
}

}  // namespace

int run_processes(const LaunchOptions& options) {
  if (options.processes < 1) {
    throw UsageError("{} processes were asked for; at least 1 is needed", options.processes);
  }
  const BlockedSignals signals;
  Ranks ranks(options);
  ranks.start(signals);
  return ranks.wait(signals);
}

}  // namespace addp
