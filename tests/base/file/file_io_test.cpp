#include "base/file/file_io.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/folder.h"
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

// How a process that does `work` ends, as waitpid says it.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

class OldFile : public ::testing::Test {
 protected:
  OldFile() { write_file_atomically(path_, "old"); }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "a.txt";
};

TEST_F(OldFile, UncommittedWriteLeavesTheOldFile) {
  {
    AtomicFile file(path_);
    file.write("new");
  }
  EXPECT_EQ(read_text_file(path_), "old");
  EXPECT_EQ(entries(folder_.path()), 1U);
}

TEST_F(OldFile, FullDiskLeavesTheOldFile) {
  // A limit on the size of files makes write() fail as a full disk does.
  const int status = status_of_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 16, 1 << 16};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 0;
    try {
      write_file_atomically(path_, std::string(8 << 20, 'n'));
    } catch (const Error& error) {
      const std::string message = error.what();
      code = message.find(path_.string()) == 0 && error.code() == ExitCode::kRuntime ? 7 : 8;
    }
    ::_exit(code);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read_text_file(path_), "old");
  EXPECT_EQ(entries(folder_.path()), 1U);
}

TEST_F(OldFile, KilledWriterLeavesTheOldFile) {
  const int status = status_of_child([&] {
    AtomicFile file(path_);
    file.write(std::string(4 << 20, 'n'));
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_text_file(path_), "old");
}

TEST(FileIo, UnwritableFolderIsNamed) {
  try {
    write_file_atomically("/nonexistent-folder/a.txt", "x");
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent-folder/a.txt"), std::string::npos);
  }
}

TEST(FileIo, APipeIsRefusedWithoutWaitingForAWriter) {
  TemporaryFolder folder;
  const auto path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(read_file(path), DataError);
  EXPECT_THROW(MappedFile{path}, DataError);
}

TEST(FileIo, NamesOfAnyLengthThatTheFileSystemTakes) {
  TemporaryFolder folder;
  const auto longest = folder.path() / std::string(255, 'n');
  write_file_atomically(longest, "text");
  EXPECT_EQ(read_text_file(longest), "text");
  try {
    write_file_atomically(folder.path() / std::string(256, 'n'), "text");
    FAIL() << "nothing was thrown";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("too long"), std::string::npos) << error.what();
  }
}

TEST(FileIo, LeftoversOfDeadWritersAreRemoved) {
  TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder.path() / "state");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  const AtomicFile alive(folder.path() / "other");
  for (const char* name : {"a.tmp", "a.tmp-1x-2", "a.tmp-12", "state"}) {
    write_file_atomically(folder.path() / name, "mine");
  }
  ASSERT_EQ(entries(folder.path()), 6U);
  remove_leftovers(folder.path());
  EXPECT_EQ(entries(folder.path()), 5U);  // all but the dead one's
}

TEST(FileIo, OneProcessAtATimeWorksInAFolder) {
  TemporaryFolder folder;
  {
    const FolderLock first(folder.path());
    EXPECT_THROW(FolderLock{folder.path()}, RuntimeError);
  }
  const FolderLock next(folder.path());
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const FolderLock another(folder.path());
      ::_exit(43);
    } catch (const RuntimeError&) {
      ::_exit(42);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace addp
