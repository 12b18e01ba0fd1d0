#include "base/file/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

#include "base/error.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporary = ".tmp-";  // as AtomicFile calls its files

// The process behind a temporary file "NAME.tmp-PID-N"; 0 for any other name.
pid_t writer_of(const std::string& name) {
  const std::size_t at = name.rfind(kTemporary);
  if (at == std::string::npos) return 0;
  const char* end = name.data() + name.size();
  int process = 0, number = 0;
  const auto first = std::from_chars(name.data() + at + kTemporary.size(), end, process);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, number);
  return second.ec == std::errc() && second.ptr == end ? process : 0;
}

}  // namespace

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const pid_t writer = writer_of(entry->path().filename().string());
    if (writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH) {
      std::error_code ignored;
      fs::remove(entry->path(), ignored);
    }
  }
}

FolderLock::FolderLock(const fs::path& folder) {
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw RuntimeError("{}: another run is writing here; wait for its end or choose another --out",
                     folder);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace addp
