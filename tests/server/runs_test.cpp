#include "server/routes/runs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file/file_io.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

TEST(RunFolder, ReadsRunsAsTheyGrow) {
  testing::TemporaryFolder folder;
  const auto run = folder.path() / "group" / "one";
  make_folder(run / "pictures");
  write_file_atomically(run / "config.toml", "steps = 100  # of training\nbatch-size = 8\n");
  write_file_atomically(
      run / "log.jsonl",
      "{\"step\":10,\"loss\":2,\"pictures_per_second\":40}\n{\"step\":20,\"loss\":1}\n{\"ste");
  write_file_atomically(run / "pictures" / "samples-0000010.png", "old");
  write_file_atomically(run / "pictures" / "samples-0000020.png", "new");
  write_file_atomically(folder.path() / "secret.png", "secret");
  const RunFolder runs(folder.path());
  const auto list = runs.list();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["name"], "group/one");
  EXPECT_EQ(list[0]["step"], 20);
  EXPECT_EQ(list[0]["steps"], 100);
  EXPECT_EQ(list[0]["seconds_left"], 16);  // 80 steps of 8 at 40 a second
  EXPECT_EQ(list[0]["pictures"], (nlohmann::json{"samples-0000020.png"}));

  auto log = runs.log("group/one", 0);
  ASSERT_TRUE(log);
  EXPECT_EQ((*log)["lines"].size(), 2u);
  std::ofstream(run / "log.jsonl", std::ios::app) << "p\":30,\"loss\":0.5}\n";
  log = runs.log("group/one", (*log)["next"].get<std::int64_t>());
  ASSERT_EQ((*log)["lines"].size(), 1u);
  EXPECT_EQ((*log)["lines"][0]["step"], 30);
  write_file_atomically(run / "log.jsonl", "{\"step\":5}\n");
  log = runs.log("group/one", (*log)["next"].get<std::int64_t>());
  EXPECT_EQ((*log)["restarted"], true);
  EXPECT_EQ((*log)["lines"].size(), 1u);

  EXPECT_EQ(runs.picture("group/one", "samples-0000010.png"), "old");
}

TEST(RunFolder, OpensNothingElse) {
  testing::TemporaryFolder folder;
  make_folder(folder.path() / "runs" / "one" / "pictures");
  write_file_atomically(folder.path() / "runs" / "one" / "log.jsonl", "");
  write_file_atomically(folder.path() / "secret.png", "secret");
  write_file_atomically(folder.path() / "log.jsonl", "{\"step\":1}\n");
  const RunFolder runs(folder.path() / "runs");
  for (const char* name : {"..", "../", "one/..", "one/../..", "/", "", "nowhere", "one/"}) {
    EXPECT_FALSE(runs.log(name, 0)) << name;
    EXPECT_FALSE(runs.picture(name, "secret.png")) << name;
  }
  for (const char* name : {"../../../secret.png", "../log.jsonl", "", ".", "/etc/passwd"}) {
    EXPECT_FALSE(runs.picture("one", name)) << name;
  }
  EXPECT_TRUE(RunFolder("").list().empty());
  EXPECT_TRUE(RunFolder(folder.path() / "nowhere").list().empty());
}

}  // namespace
}  // namespace addp
