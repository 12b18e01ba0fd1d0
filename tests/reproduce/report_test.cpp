// What readers get: every claim, whatever became of it, and text that stays text.
#include "reproduce/page/report.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file/file_io.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

constexpr const char* kNasty = "<script>alert(1)</script> | `x` & [y]";

Study small_study() {
  Study study{.name = "main", .title = kNasty, .about = kNasty};
  const Measure fid{.title = "FID", .pointer = "/fid", .higher = false, .digits = 2};
  study.tables = {{"Table 1",
                   {fid},
                   {{kNasty, {{8.9, {"a.1", "a.2"}}}, 1}, {"MAGE", {{11.0, {"b.1", "b.2"}}}, 2}},
                   ""}};
  study.charts = {{"FID", "x", "FID", {{"all", 0, 0, ""}}}};
  const auto less = [](const std::vector<double>& m) { return m[1] - m[0]; };
  study.claims = {{"A generates better", "8.9 against 11.0", {{0, 0, 0}, {0, 1, 0}}, less},
                  {"B generates better", "", {{0, 1, 0}, {0, 0, 0}}, less}};
  study.left_out = {kNasty};
  return study;
}

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() : place_(plan_, folder_.path()) {
    for (const char* name : {"a.1", "a.2", "b.1", "b.2"}) {
      plan_.add({.name = name, .kind = "eval fid", .words = {"eval", name}});
    }
  }
  void finish(const std::string& name, double fid) {
    make_folder(place_.folder(name));
    place_.write_result(plan_.job(name), {{{"fid", fid}}, 1});
  }
  Findings findings() {
    Setting setting;
    setting.scale.name = "mini";
    setting.data = kNasty;
    Findings found = collect_findings(setting, {small_study()}, place_);
    found.command = kNasty;
    found.failed = {{"a.1", kNasty}};
    return found;
  }
  void finish_all() {
    finish("a.1", 8);
    finish("a.2", 8.2);
    finish("b.1", 10);
    finish("b.2", 10.2);
  }

  testing::TemporaryFolder folder_;
  Plan plan_;
  Workplace place_;
};

TEST_F(ReportTest, BothClaimsAreJudgedFromTheSeeds) {
  finish_all();
  const Findings found = findings();
  EXPECT_EQ(found.studies[0].judgements[0].verdict, Verdict::kHolds);
  EXPECT_EQ(found.studies[0].judgements[1].verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(found.done, 4);
  EXPECT_EQ(tally_text(found),
            "Of 2 claims 1 hold, 1 do not hold, 0 cannot be told, 0 were not measured.");
  const Table table = result_table(found.studies[0].study.tables[0], found.studies[0].figures[0]);
  EXPECT_EQ(table.rows[0][1], "8.90");
  EXPECT_EQ(table.rows[0][2], "8.10 ± 0.14");
}

// Several draws of one network say nothing of how far trainings differ.
TEST_F(ReportTest, ANetworkThatIsTrainedOnceGivesNoSpread) {
  finish_all();
  Study study = small_study();
  for (StudyRow& row : study.tables[0].rows) row.cells[0].trained_once = true;
  const Findings found = collect_findings({}, {study}, place_);
  EXPECT_EQ(found.studies[0].judgements[0].verdict, Verdict::kCannotBeTold);
}

TEST_F(ReportTest, NoClaimIsLeftOutBecauseNothingWasMeasured) {
  const Findings found = findings();
  const auto json = to_json(found);
  ASSERT_EQ(json["studies"][0]["claims"].size(), 2U);
  EXPECT_EQ(json["studies"][0]["claims"][0]["verdict"], "not measured");
  EXPECT_EQ(claim_table(found.studies[0]).rows.size(), 2U);
}

TEST_F(ReportTest, ThePageAndTheDocumentEscapeWhatTheyShow) {
  finish_all();
  write_report(findings(), place_);
  const std::string page = read_text_file(folder_.path() / "index.html");
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(page.find("does not hold"), std::string::npos);
  write_document(findings(), place_, folder_.path() / "docs" / "FOUND.md");
  const std::string text = read_text_file(folder_.path() / "docs" / "FOUND.md");
  EXPECT_EQ(text.find("\n<script>"), std::string::npos);
  EXPECT_NE(text.find("\\<script\\>"), std::string::npos);
  EXPECT_NE(text.find("(images/found-main-chart-1.svg)"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "docs/images/found-main-chart-1.svg"));
}

TEST_F(ReportTest, MarkdownRowsKeepTheirColumns) {
  const std::string text = to_markdown({"", {"a", "b"}, {{"x | y", "line\nline"}}});
  EXPECT_EQ(text, "| a | b |\n|---|---|\n| x \\| y | line line |\n");
}

TEST_F(ReportTest, AResultThatIsNotOneIsNamed) {
  make_folder(place_.folder("a.1"));
  write_file_atomically(place_.folder("a.1") / "result.json", std::string_view("[]"));
  EXPECT_THROW(findings(), DataError);
}

}  // namespace
}  // namespace addp
