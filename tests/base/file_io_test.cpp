#include "base/file_io.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

TEST(FileIo, WriteReadMap) {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.bin";
  const std::string text(3'000'000, 'x');
  write_file_atomically(path, text);
  EXPECT_EQ(read_text_file(path), text);
  EXPECT_EQ(read_file(path).size(), text.size());
  EXPECT_EQ(MappedFile(path).bytes().size(), text.size());
  EXPECT_THROW(read_file(path, 10), DataError);
  EXPECT_THROW(read_file(folder.path() / "missing"), DataError);
  EXPECT_THROW(MappedFile(folder.path()), DataError);
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(FileIo, UncommittedWriteLeavesTheOldFile) {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
  }
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(FileIo, FullDiskLeavesTheOldFile) {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, "old");
  // A limit on the size of files makes write() fail as a full disk does.
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 16, 1 << 16};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 0;
    try {
      write_file_atomically(path, std::string(8 << 20, 'n'));
    } catch (const Error& error) {
      const std::string message = error.what();
      code = message.find(path.string()) == 0 && error.code() == ExitCode::kRuntime ? 7 : 8;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(FileIo, KilledWriterLeavesTheOldFile) {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomically(path, "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write(std::string(4 << 20, 'n'));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_text_file(path), "old");
}

TEST(FileIo, UnwritableFolderIsNamed) {
  try {
    write_file_atomically("/nonexistent-folder/a.txt", "x");
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent-folder/a.txt"), std::string::npos);
  }
}

}  // namespace
}  // namespace addp
