#include "base/run/run_context.h"

#include <gtest/gtest.h>

#include "base/file/file_io.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

TEST(RunContext, ARecordBesideAFileLeavesTheRunsOwn) {
  const TemporaryFolder folder;
  const RunContext training{false, "addp train", "steps = 1\n"};
  const RunContext features{false, "addp features", "split = \"val\"\n"};
  training.write_configuration(folder.path());
  features.write_configuration_beside(folder.path() / "f.npy");
  EXPECT_EQ(read_text_file(folder.path() / "config.toml"), "# addp train\n\nsteps = 1\n");
  EXPECT_EQ(read_text_file(folder.path() / "f.npy.config.toml"),
            "# addp features\n\nsplit = \"val\"\n");
}

}  // namespace
}  // namespace addp
