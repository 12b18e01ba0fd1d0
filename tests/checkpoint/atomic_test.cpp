// A full disk, a kill, an exception: the old file stays.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/pickle/torch_writer.h"
#include "checkpoint/python.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

TensorMap big() { return {{"w", make_tensor(DType::kU8, {8 << 20}, Bytes(8 << 20, 1))}}; }

// Runs `work` in a child that may write at most `limit` bytes to a file: 0 if it threw a
// RuntimeError that says so, 1 if it succeeded, 2 otherwise.
template <class Work>
int in_limited_child(rlim_t limit, Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &small);
    int result = 1;
    try {
      work();
    } catch (const RuntimeError& error) {
      result = std::string(error.what()).find("untouched") != std::string::npos ? 0 : 2;
    } catch (...) {
      result = 2;
    }
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

std::size_t files_in(const TemporaryFolder& scratch) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(scratch.path()), {}));
}

TEST(AtomicWrites, FullDiskLeavesTheOldFile) {
  const TemporaryFolder scratch;
  const TensorMap old{{"w", make_tensor(DType::kU8, {3}, {1, 2, 3})}};
  write_safetensors(scratch / "a.safetensors", old);
  write_torch_file(scratch / "a.pth", old);
  const Bytes before = read_file(scratch / "a.safetensors"),
              before_torch = read_file(scratch / "a.pth");
  const TensorMap larger = big();
  EXPECT_EQ(
      in_limited_child(1 << 20, [&] { write_safetensors(scratch / "a.safetensors", larger); }), 0);
  EXPECT_EQ(in_limited_child(1 << 20, [&] { write_torch_file(scratch / "a.pth", larger); }), 0);
  EXPECT_EQ(read_file(scratch / "a.safetensors"), before);
  EXPECT_EQ(read_file(scratch / "a.pth"), before_torch);
  EXPECT_EQ(files_in(scratch), 2u);  // no temporary file is left
  EXPECT_EQ(
      in_limited_child(64 << 20, [&] { write_safetensors(scratch / "a.safetensors", larger); }), 1);
  EXPECT_NE(read_file(scratch / "a.safetensors"), before);
}

TEST(AtomicWrites, KillLeavesTheOldFile) {
  const TemporaryFolder scratch;
  write_safetensors(scratch / "a.safetensors", {{"w", make_tensor(DType::kU8, {1}, {5})}});
  const Bytes before = read_file(scratch / "a.safetensors");
  const TensorMap larger = big();
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(scratch / "a.safetensors");
    file.write(larger.at("w").bytes);
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(scratch / "a.safetensors"), before);
}

TEST(AtomicWrites, MissingFolderIsNamed) {
  const TemporaryFolder scratch;
  try {
    write_safetensors(scratch / "no/such/a.safetensors", {});
    ADD_FAILURE() << "written";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("no/such/a.safetensors"), std::string::npos);
  }
}

}  // namespace
}  // namespace addp
