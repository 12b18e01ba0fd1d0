// Loaded into the program to play a disk that is slow (ADDP_SLOW: microseconds for each write and fsync) and a clock that
// jumps (ADDP_CLOCK: seconds, forth and back at every other look).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long setting(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static void be_slow(void) {
  long wait = setting("ADDP_SLOW");
  if (wait > 0) usleep((useconds_t)wait);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  be_slow();
  return real(descriptor, bytes, count);
}

int fsync(int descriptor) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  be_slow();
  return real(descriptor);
}

static long jump(void) {
  static unsigned looks;
  return __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED) % 2 ? setting("ADDP_CLOCK") : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += jump();
  return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}
