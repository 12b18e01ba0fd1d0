// A machine that gives no more threads.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace addp::testing {

// While it lives, the stack of a new thread would need more memory than there is.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t endless = before_;
    ::pthread_attr_setstacksize(&endless, std::size_t{1} << 50);
    ::pthread_setattr_default_np(&endless);
  }
  ~NoMoreThreads() { ::pthread_setattr_default_np(&before_); }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace addp::testing
