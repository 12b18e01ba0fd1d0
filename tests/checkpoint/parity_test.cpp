// The readers against Python's torch.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/python.h"
#include "support/fixtures.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

constexpr std::array kPublished{"addp.pth", "mage.pth", "vqgan.ckpt", "classifier.pth"};

std::string dump_name(const TemporaryFolder& scratch, std::size_t folder, const char* file) {
  return (scratch / (std::to_string(folder) + "-" + file)).string();
}

class Parity : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (testing::python().empty()) return;
    scratch_ = new TemporaryFolder;
    std::string arguments = fmt::format("make '{}'", scratch_->path());
    const auto folders = testing::network_fixtures();
    for (std::size_t i = 0; i < folders.size(); ++i) {
      for (const char* name : kPublished) {
        arguments += fmt::format(" '{}' '{}'", folders[i] / name, dump_name(*scratch_, i, name));
      }
    }
    if (!testing::run_reference(arguments)) delete std::exchange(scratch_, nullptr);
  }
  static void TearDownTestSuite() { delete std::exchange(scratch_, nullptr); }
  void SetUp() override {
    ADDP_REQUIRE_PYTHON();
    ASSERT_NE(scratch_, nullptr) << "reference.py make failed";
  }
  static std::filesystem::path file(const std::string& name) { return *scratch_ / name; }

  static TemporaryFolder* scratch_;
};
TemporaryFolder* Parity::scratch_ = nullptr;

TEST_F(Parity, PublishedLayouts) {
  const auto folders = testing::network_fixtures();
  if (folders.empty()) GTEST_SKIP() << "needs fixture addp-mini";
  for (std::size_t i = 0; i < folders.size(); ++i) {
    for (const char* name : kPublished) {
      SCOPED_TRACE((folders[i] / name).string());
      const std::string dump = dump_name(*scratch_, i, name);
      const Checkpoint checkpoint = open_checkpoint(folders[i] / name);
      EXPECT_EQ(checkpoint.format, "torch-zip");
      EXPECT_EQ(checkpoint.root, nlohmann::json::parse(read_text_file(dump + ".json"))["root"]);
      testing::expect_same_tensors(checkpoint.tensors, dump);
    }
  }
}

TEST_F(Parity, OddTensors) {
  for (const char* name : {"types", "strides", "parameters", "nested", "optimizer", "circle"}) {
    for (const auto& [suffix, format] :
         {std::pair{".pth", "torch-zip"}, {"-legacy.pth", "torch-legacy"}}) {
      SCOPED_TRACE(std::string(name) + suffix);
      const Checkpoint checkpoint = open_checkpoint(file(std::string(name) + suffix));
      EXPECT_EQ(checkpoint.format, format);
      testing::expect_same_tensors(checkpoint.tensors, file(std::string(name) + suffix).string());
    }
  }
}

TEST_F(Parity, DeflatedAndUncheckedRecords) {
  for (const char* name : {"deflated.pth", "unchecked.pth", "unsigned.pth"}) {
    SCOPED_TRACE(name);
    testing::expect_same_tensors(open_checkpoint(file(name)).tensors, file(name).string());
  }
}

TEST_F(Parity, TorchScript) {
  const Checkpoint checkpoint = open_checkpoint(file("script.pt"));
  testing::expect_same_tensors(checkpoint.tensors, file("script.pt").string());
}

TEST_F(Parity, MetadataIsPlainData) {
  for (const char* name : {"nested.pth", "nested-legacy.pth"}) {
    SCOPED_TRACE(name);
    const Checkpoint checkpoint = open_checkpoint(file(name));
    EXPECT_EQ(checkpoint.root, "model");
    const nlohmann::json& meta = checkpoint.metadata;
    EXPECT_EQ(meta["epoch"], 12);
    EXPECT_EQ(meta["best"], "nan");
    EXPECT_EQ(meta["args"]["lr"], 1e-3);
    EXPECT_EQ(meta["args"]["betas"], (nlohmann::json{0.9, 0.95}));
    EXPECT_EQ(meta["args"]["name"], "ü");
    EXPECT_EQ(meta["args"]["out"], "a/b");
    EXPECT_EQ(meta["args"]["none"], nullptr);
    EXPECT_EQ(meta["args"]["tags"], nlohmann::json::array({"x"}));
    EXPECT_EQ(meta["size"], (nlohmann::json{2, 3}));
    EXPECT_EQ(meta["type"], "torch.float16");
    EXPECT_EQ(meta["other"]["rate"], 0.5);
    EXPECT_EQ(meta["other"]["class"], "__main__.Unknown");
    EXPECT_EQ(checkpoint.foreign, std::vector<std::string>{"__main__.Unknown"});
  }
  const Checkpoint optimizer = open_checkpoint(file("optimizer.pth"));
  EXPECT_GT(optimizer.metadata["optimizer"]["tensors"], 0);
}

TEST_F(Parity, AttacksAreReportedAndDoNothing) {
  for (const char* name : {"system", "eval", "open", "popen"}) {
    for (const char* suffix : {".pth", "-legacy.pth"}) {
      const auto path = file("hostile/" + std::string(name) + suffix);
      SCOPED_TRACE(path.string());
      try {
        open_checkpoint(path);
        ADD_FAILURE() << "accepted";
      } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("nothing was executed"), std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_FALSE(std::filesystem::exists(file("executed")));
  EXPECT_THROW(open_checkpoint(file("hostile/plain.pth")), DataError);
}

}  // namespace
}  // namespace addp
