#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"

namespace addp {
namespace {

pid_t start(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  install_interrupt_handler();
  body();
  ::_exit(7);
}

int exit_code(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void rest(int seconds) {  // a signal ends one sleep()
  for (unsigned left = static_cast<unsigned>(seconds); left > 0;) left = ::sleep(left);
}

TEST(Interrupt, EverySignalIsAskedForOnceHoweverOftenItComes) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = start([signal] {
      const UnsavedWork work;
      for (int i = 0; i < 3; ++i) ::raise(signal);
      ::_exit(interrupt_requested() ? 42 : 43);
    });
    EXPECT_EQ(exit_code(child), 42) << signal;
  }
}

// The children wait at the same time, each for a few seconds.
TEST(Interrupt, WhatDoesNotEndIsEndedUnlessItHasSomethingToSave) {
  const pid_t idle = start([] {
    ::raise(SIGTERM);
    rest(30);
  });
  const pid_t saving = start([] {
    const UnsavedWork work;
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    rest(4);
    ::_exit(42);
  });
  const pid_t saved = start([] {
    auto work = std::make_unique<UnsavedWork>();
    ::raise(SIGINT);
    rest(3);
    work.reset();
    rest(30);
  });
  EXPECT_EQ(exit_code(idle), static_cast<int>(ExitCode::kInterrupted));
  EXPECT_EQ(exit_code(saving), 42);
  EXPECT_EQ(exit_code(saved), static_cast<int>(ExitCode::kInterrupted));
}

TEST(Interrupt, AnIgnoredHangUpStaysIgnored) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGHUP, SIG_IGN);
    install_interrupt_handler();
    ::raise(SIGHUP);
    ::_exit(interrupt_requested() ? 43 : 42);
  }
  EXPECT_EQ(exit_code(child), 42);
}

}  // namespace
}  // namespace addp
