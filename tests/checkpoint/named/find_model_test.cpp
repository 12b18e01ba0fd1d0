// Models by name: where they are searched for, and which file of a set is meant.
#include "checkpoint/named/find_model.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "base/file/file_io.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

class FindModel : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    for (const char* file : {"first/dots/predictor", "second/dots/addp", "second/dots/predictor",
                             "second/dots/classifier", "second/things/detector"}) {
      add(fs::path("sets") / file);
    }
    fs::current_path(folder_.path());
    const std::string both =
        (folder_.path() / "sets/first").string() + "::" + (folder_.path() / "sets/second").string();
    ::setenv("ADDP_MODELS", both.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("ADDP_MODELS");
    fs::current_path(before_);
  }
  void add(fs::path file) {
    file = folder_.path() / (file += ".safetensors");
    make_folder(file.parent_path());
    write_file_atomically(file, "x");
  }
  fs::path set(const char* file) const { return folder_.path() / "sets" / file; }
  static std::string complaint(const fs::path& name,
                               std::initializer_list<std::string_view> kinds) {
    try {
      find_model(name, kinds);
    } catch (const DataError& error) {
      return error.what();
    }
    return {};
  }

  testing::TemporaryFolder folder_;
  fs::path before_;
};

TEST_F(FindModel, TheCommandsKindChoosesTheFile) {
  EXPECT_EQ(find_model("dots", {"classifier"}), set("second/dots/classifier.safetensors"));
  EXPECT_EQ(find_model("dots", {"tokenizer", "addp"}), set("second/dots/addp.safetensors"));
  EXPECT_EQ(find_model("things"), set("second/things/detector.safetensors"));
}

TEST_F(FindModel, OneOfASetByItsOwnName) {
  EXPECT_EQ(find_model("dots/classifier", {"addp"}), set("second/dots/classifier.safetensors"));
}

TEST_F(FindModel, EarlierFoldersWin) {
  EXPECT_EQ(find_model("dots", {"predictor"}), set("first/dots/predictor.safetensors"));
  EXPECT_EQ(find_model("dots/predictor"), set("first/dots/predictor.safetensors"));
}

TEST_F(FindModel, APathThatIsAModelWinsOverAName) {
  make_folder(folder_.path() / "dots");  // of pictures, say
  write_file_atomically(folder_.path() / "dots/a.png", "x");
  EXPECT_EQ(find_model("dots", {"addp"}), set("second/dots/addp.safetensors"));
  add("dots/model");
  EXPECT_EQ(find_model("dots", {"addp"}), fs::path("dots/model.safetensors"));
  EXPECT_EQ(find_model(set("second/dots"), {"addp"}), set("second/dots/addp.safetensors"));
  EXPECT_EQ(find_model(set("second/dots/addp.safetensors")), set("second/dots/addp.safetensors"));
}

TEST_F(FindModel, ErrorsSayWhatThereIs) {
  EXPECT_NE(complaint("dots", {"detector"}).find("dots: has no detector"), std::string::npos);
  EXPECT_NE(complaint("dots", {"detector"}).find("dots/classifier"), std::string::npos);
  EXPECT_NE(complaint("bots", {"addp"}).find("'addp models'"), std::string::npos);
  EXPECT_NE(complaint("sets", {"addp"}).find("model.safetensors"), std::string::npos);
  EXPECT_NE(complaint("../second/things/detector", {"detector"}), "");
  EXPECT_FALSE(is_model("dots", {"detector"}));
  EXPECT_TRUE(is_model("dots", {"addp"}));
}

TEST_F(FindModel, ListsEachNameOnce) {
  std::vector<std::string> names;
  for (const NamedModel& model : named_models("dots")) names.push_back(model.name());
  EXPECT_EQ(names, (std::vector<std::string>{"dots/addp", "dots/predictor", "dots/classifier"}));
  EXPECT_EQ(named_models("dots/predictor").front().file, set("first/dots/predictor.safetensors"));
}

}  // namespace
}  // namespace addp
