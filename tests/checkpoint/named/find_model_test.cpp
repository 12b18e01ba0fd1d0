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
    for (const char* file : {"first/cells/predictor", "second/cells/addp", "second/cells/predictor",
                             "second/cells/classifier", "second/things/detector"}) {
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
  EXPECT_EQ(find_model("cells", {"classifier"}), set("second/cells/classifier.safetensors"));
  EXPECT_EQ(find_model("cells", {"tokenizer", "addp"}), set("second/cells/addp.safetensors"));
  EXPECT_EQ(find_model("things"), set("second/things/detector.safetensors"));
}

TEST_F(FindModel, OneOfASetByItsOwnName) {
  EXPECT_EQ(find_model("cells/classifier", {"addp"}), set("second/cells/classifier.safetensors"));
}

TEST_F(FindModel, EarlierFoldersWin) {
  EXPECT_EQ(find_model("cells", {"predictor"}), set("first/cells/predictor.safetensors"));
  EXPECT_EQ(find_model("cells/predictor"), set("first/cells/predictor.safetensors"));
}

TEST_F(FindModel, APathThatIsAModelWinsOverAName) {
  make_folder(folder_.path() / "cells");  // of pictures, say
  write_file_atomically(folder_.path() / "cells/a.png", "x");
  EXPECT_EQ(find_model("cells", {"addp"}), set("second/cells/addp.safetensors"));
  add("cells/model");
  EXPECT_EQ(find_model("cells", {"addp"}), fs::path("cells/model.safetensors"));
  EXPECT_EQ(find_model(set("second/cells"), {"addp"}), set("second/cells/addp.safetensors"));
  EXPECT_EQ(find_model(set("second/cells/addp.safetensors")), set("second/cells/addp.safetensors"));
}

TEST_F(FindModel, ErrorsSayWhatThereIs) {
  EXPECT_NE(complaint("cells", {"detector"}).find("cells: has no detector"), std::string::npos);
  EXPECT_NE(complaint("cells", {"detector"}).find("cells/classifier"), std::string::npos);
  EXPECT_NE(complaint("sells", {"addp"}).find("'addp models'"), std::string::npos);
  EXPECT_NE(complaint("sets", {"addp"}).find("model.safetensors"), std::string::npos);
  EXPECT_NE(complaint("../second/things/detector", {"detector"}), "");
  EXPECT_FALSE(is_model("cells", {"detector"}));
  EXPECT_TRUE(is_model("cells", {"addp"}));
}

TEST_F(FindModel, ListsEachNameOnce) {
  std::vector<std::string> names;
  for (const NamedModel& model : named_models("cells")) names.push_back(model.name());
  EXPECT_EQ(names, (std::vector<std::string>{"cells/addp", "cells/predictor", "cells/classifier"}));
  EXPECT_EQ(named_models("cells/predictor").front().file, set("first/cells/predictor.safetensors"));
}

}  // namespace
}  // namespace addp
