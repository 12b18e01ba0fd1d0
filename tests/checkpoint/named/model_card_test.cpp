// Cards of models, those that come with the program among them.
#include "checkpoint/named/model_card.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file_io.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/recognise.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCard = R"(title = "Dots"
data = "a thousand dots"
credit = "nobody"
licence = "CC0"
not-for = "lines"

[addp]
summary = "makes dots"
recipe = "configs/addp/dots.toml"
steps = 1200
figures = [{name = "FID", value = "12.5", on = "val", command = "addp eval fid dots DOTS"}]
)";

std::string complaint(const std::string& text) {
  try {
    parse_model_card(text, "card.toml");
  } catch (const DataError& error) {
    return error.what();
  }
  return {};
}

TEST(ModelCard, IsReadAndWritten) {
  const ModelCard card = parse_model_card(kCard, "card.toml");
  EXPECT_EQ(card.licence, "CC0");
  ASSERT_EQ(card.models.size(), 1U);
  EXPECT_EQ(card.models.at("addp").figures.at(0).value, "12.5");
  const std::string page = card_markdown("dots", card);
  for (const char* part : {"# dots: Dots", "nobody", "CC0", "lines", "configs/addp/dots.toml",
                           "1,200 steps", "| FID | 12.5 | val | `addp eval fid dots DOTS` |"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << " in " << page;
  }
}

TEST(ModelCard, MistakesAreNamed) {
  const std::string card = kCard;
  EXPECT_NE(complaint("title = 'x'\n").find("no 'data'"), std::string::npos);
  EXPECT_NE(complaint("colour = 'red'\n" + card).find("'colour'"), std::string::npos);
  EXPECT_NE(complaint(card + "speed = 'fast'\n").find("card.toml:12: 'speed'"), std::string::npos);
  EXPECT_NE(complaint(card + "time = 3\n").find("'time' is not a text"), std::string::npos);
  EXPECT_NE(complaint("title = \n").find("card.toml:1"), std::string::npos);
}

// What the repository ships: every model has a card, README.md is the card, the weights are in
// half precision and no more than 30 MB altogether.
TEST(ShippedModels, FollowTheirCards) {
  const fs::path models = fs::path(ADDP_SOURCE_DIR) / "models";
  std::uint64_t bytes = 0;
  for (const auto& set : fs::directory_iterator(models)) {
    if (!set.is_directory()) continue;
    const auto card = read_model_card(set.path());
    ASSERT_TRUE(card.has_value()) << set.path();
    EXPECT_EQ(read_text_file(set.path() / "README.md"),
              card_markdown(set.path().filename().string(), *card));
    for (const auto& [kind, model] : card->models) {
      EXPECT_TRUE(fs::exists(fs::path(ADDP_SOURCE_DIR) / model.recipe)) << model.recipe;
      EXPECT_FALSE(model.figures.empty()) << set.path() << " " << kind;
      const fs::path file = set.path() / (kind + ".safetensors");
      ASSERT_TRUE(fs::exists(file)) << file;
      const Recognition found = recognise(open_checkpoint(file));
      EXPECT_EQ(found.kind, kind) << file;
      EXPECT_TRUE(found.dtypes.contains("F16") && !found.dtypes.contains("F32")) << file;
      EXPECT_TRUE(found.non_finite.empty()) << file;
      // Folders of the machine that a model was trained on are nobody else's business.
      const std::string made = read_safetensors(file).metadata.at("addp.provenance");
      EXPECT_EQ(made.find(" /"), std::string::npos) << file << ": " << made;
      EXPECT_EQ(made.find("\"/"), std::string::npos) << file << ": " << made;
      bytes += found.file_bytes;
    }
  }
  EXPECT_LE(bytes, 30'000'000U);
}

}  // namespace
}  // namespace addp
