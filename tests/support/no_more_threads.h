// A machine that gives no more threads.
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace addp::testing {

// While it lives, as many new threads as are left find room for their stacks, and no more.
class NoMoreThreads {
 public:
  explicit NoMoreThreads(std::size_t left = 0) {
    ::getrlimit(RLIMIT_AS, &room_before_);
    rlimit room = room_before_;
    room.rlim_cur = used_bytes() + left * kStack + kStack / 2;
    ::setrlimit(RLIMIT_AS, &room);
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t large = before_;
    ::pthread_attr_setstacksize(&large, kStack);
    ::pthread_setattr_default_np(&large);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&before_);
    ::setrlimit(RLIMIT_AS, &room_before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  static constexpr std::size_t kStack = std::size_t{1} << 30;

  static std::size_t used_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  }

  pthread_attr_t before_;
  rlimit room_before_;
};

}  // namespace addp::testing
