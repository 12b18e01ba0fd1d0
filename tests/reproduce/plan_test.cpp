// The graph of a reproduction: what needs what, and what makes a job another job.
#include "reproduce/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "reproduce/plan/studies.h"
#include "reproduce/run/estimate.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

StudyJob job(const std::string& name, std::vector<std::string> words) {
  return {.name = name, .kind = "kind of " + name, .words = std::move(words)};
}

Setting mini_setting() {
  Setting setting;
  setting.scale = scale_of("mini");
  setting.data = setting.dense = setting.maps = setting.scale.data;
  look_at_data(setting);
  setting.fid = true;  // whatever is on this machine
  return setting;
}

TEST(Plan, FoldersInWordsAreWhatAJobNeeds) {
  Plan plan;
  plan.add(job("a", {"train", "--out", in_folder("a")}));
  plan.add(job("b", {"eval", in_folder("a") + "/x", in_folder("a"), "--out", in_folder("b")}));
  EXPECT_TRUE(plan.needs(plan.job("a")).empty());
  EXPECT_EQ(plan.needs(plan.job("b")), std::vector<std::string>{"a"});
}

TEST(Plan, AKeyFollowsWordsNeedsAndFilesFromOutside) {
  const auto key_of_last = [](const std::string& steps, const std::string& digest) {
    Plan plan;
    plan.add_outside("tokenizer.safetensors", digest);
    plan.add(job("a", {"train", "--steps", steps, "--tokenizer", "tokenizer.safetensors"}));
    plan.add(job("b", {"eval", in_folder("a")}));
    return plan.key("b");
  };
  EXPECT_EQ(key_of_last("3", "x"), key_of_last("3", "x"));
  EXPECT_NE(key_of_last("3", "x"), key_of_last("4", "x"));
  EXPECT_NE(key_of_last("3", "x"), key_of_last("3", "y"));
}

TEST(Plan, TheSameJobTwiceIsOne) {
  Plan plan;
  plan.add(job("a", {"train"}));
  plan.add(job("a", {"train"}));
  EXPECT_EQ(plan.jobs().size(), 1U);
  EXPECT_THROW(plan.add(job("a", {"other"})), std::logic_error);
}

TEST(Plan, FilesAreNamedByTheirContent) {
  Plan plan;
  const std::string one = plan.add_file("recipe", ".toml", "a = 1");
  EXPECT_EQ(plan.add_file("recipe", ".toml", "a = 1"), one);
  EXPECT_NE(plan.add_file("recipe", ".toml", "a = 2"), one);
  EXPECT_EQ(plan.files().size(), 2U);
}

TEST(Plan, CommentsAreNoPartOfARecipe) {
  Plan plan;
  const std::string one = plan.add_recipe("addp", "# ten minutes\na = 1\n\n  # why\nb = \"#\"\n");
  EXPECT_EQ(plan.add_recipe("addp", "a = 1\nb = \"#\""), one);
  EXPECT_NE(plan.add_recipe("addp", "a = 1\n"), one);
  EXPECT_EQ(plan.files().at(one.substr(2)), "a = 1\nb = \"#\"\n");
}

TEST(Studies, AllOfThemMakeOneGraphWithoutLooseEnds) {
  const Setting setting = mini_setting();
  Plan plan;
  Jobs jobs(setting, plan);
  std::set<std::string> in_cells;
  for (const std::string& name : study_names()) {
    const Study study = make_study(name, jobs);
    EXPECT_FALSE(study.title.empty());
    for (const StudyTable& table : study.tables) {
      for (const StudyRow& row : table.rows) {
        ASSERT_EQ(row.cells.size(), table.measures.size()) << table.title << ": " << row.label;
        for (const Cell& cell : row.cells) in_cells.insert(cell.jobs.begin(), cell.jobs.end());
      }
    }
    for (const Claim& claim : study.claims) {
      for (const CellPlace& place : claim.cells) {
        const StudyTable& table = study.tables.at(place.table);
        EXPECT_LT(place.measure, table.measures.size()) << claim.text;
        EXPECT_FALSE(table.rows.at(place.row).cells.at(place.measure).jobs.empty()) << claim.text;
      }
    }
  }
  std::set<std::string> before;
  for (const StudyJob& one : plan.jobs()) {
    for (const std::string& need : plan.needs(one)) EXPECT_TRUE(before.contains(need)) << one.name;
    before.insert(one.name);
  }
  for (const std::string& name : in_cells) EXPECT_TRUE(before.contains(name)) << name;
}

TEST(Studies, EveryFidHasTheFormatThatWasAskedFor) {
  Setting setting = mini_setting();
  setting.as = "webp:90";
  Plan plan;
  Jobs jobs(setting, plan);
  const StudyJob& fid = plan.job(jobs.fid_of_mage(1));
  const auto option = std::find(fid.words.begin(), fid.words.end(), "--as");
  ASSERT_NE(option, fid.words.end());
  EXPECT_EQ(*(option + 1), "webp:90");
}

TEST(Studies, PublishedClaimsHoldForThePublishedFigures) {
  const Setting setting = mini_setting();
  Plan plan;
  Jobs jobs(setting, plan);
  int checked = 0;
  for (const std::string& name : study_names()) {
    const Study study = make_study(name, jobs);
    for (const Claim& claim : study.claims) {
      std::vector<double> figures;
      for (const CellPlace& place : claim.cells) {
        const auto& published =
            study.tables.at(place.table).rows.at(place.row).cells.at(place.measure).published;
        if (published) figures.push_back(*published);
      }
      if (claim.published.empty() || figures.size() != claim.cells.size()) continue;
      EXPECT_GT(claim.advantage(figures), 0) << claim.text;
      ++checked;
    }
  }
  EXPECT_GE(checked, 25);
}

TEST(Studies, ReadyModelsAreNotTrained) {
  Setting setting = mini_setting();
  setting.tokenizer = "tokenizer.safetensors";
  setting.predictor = "predictor.safetensors";
  Plan plan;
  Jobs jobs(setting, plan);
  make_study("main", jobs);
  for (const StudyJob& one : plan.jobs()) {
    EXPECT_NE(one.kind, "train tokenizer");
    EXPECT_NE(one.kind, "train predictor");
  }
}

TEST(Studies, AReadyAddpIsTakenByAllButTheAblations) {
  Setting setting = mini_setting();
  setting.tokenizer = "tokenizer.safetensors";
  setting.predictor = "predictor.safetensors";
  setting.addp = "addp.safetensors";
  Plan plan;
  Jobs jobs(setting, plan);
  for (const char* name : {"main", "schedule", "sampling", "labels", "probe", "pictures"}) {
    make_study(name, jobs);
  }
  for (const StudyJob& one : plan.jobs()) EXPECT_NE(one.kind, "train addp") << one.name;
  const auto& words = plan.job("fid.1").words;
  EXPECT_NE(std::find(words.begin(), words.end(), "addp.safetensors"), words.end());

  // What they are compared with is trained as long as they are.
  make_study("mapping", jobs);
  EXPECT_EQ(plan.job("addp-default.1").words.size() + 2, plan.job("addp-argmax.1").words.size());
}

TEST(Studies, WhatTheDataLackIsSaid) {
  Setting setting = mini_setting();
  setting.classes = setting.fid = false;
  setting.dense_pictures = setting.map_pictures = 0;
  Plan plan;
  Jobs jobs(setting, plan);
  const Study study = make_study("main", jobs);
  EXPECT_EQ(study.left_out.size(), 4U);
  for (const StudyJob& one : plan.jobs()) {
    EXPECT_NE(one.kind, "train classifier");
    EXPECT_NE(one.kind, "train detector");
    EXPECT_FALSE(one.kind.starts_with("eval fid"));
  }
}

TEST(Studies, LengthShortensTrainingsButNotProbes) {
  Setting setting = mini_setting();
  setting.scale.addp.steps = 1000;
  setting.length = 0.25;
  Plan plan;
  Jobs jobs(setting, plan);
  jobs.addp_model({}, 1);
  EXPECT_EQ(units_of(plan.job("addp.1")), 250);
  Setting full = setting;
  full.length = 1;
  Plan other;
  Jobs whole(full, other);
  EXPECT_EQ(units_of(plan.job(jobs.probe(Start::kMage, 1))),
            units_of(other.job(whole.probe(Start::kMage, 1))));
}

TEST(Studies, UnknownNamesAreUsageErrors) {
  const Setting setting = mini_setting();
  Plan plan;
  Jobs jobs(setting, plan);
  EXPECT_THROW(make_study("everything", jobs), UsageError);
  EXPECT_THROW(scale_of("huge"), UsageError);
}

TEST(Estimate, ALineThroughTwoPoints) {
  const Line line = line_through(2, 5, 6, 13);
  EXPECT_DOUBLE_EQ(line.fixed, 1);
  EXPECT_DOUBLE_EQ(line.per_unit, 2);
  EXPECT_DOUBLE_EQ(line.at(100), 201);
  EXPECT_DOUBLE_EQ(line_through(2, 5, 6, 4).per_unit,
                   0);  // noise: no job is faster for being longer
}

TEST(Estimate, SumsCoresAndFollowsTheLongestChain) {
  Plan plan;
  StudyJob a = job("a", {"train", "--steps", "10"}), b = job("b", {"train", in_folder("a")});
  a.length_option = "--steps";
  plan.add(a);
  plan.add(b);
  plan.add(job("c", {"train"}));
  const testing::TemporaryFolder folder;
  const Workplace place(plan, folder.path());
  const Rates rates = {{"kind of a", {{1, 2}, {1, 1}}},
                       {"kind of b", {{5, 0}, {5, 0}}},
                       {"kind of c", {{4, 0}, {2, 0}}}};
  const Estimate all = estimate(place, rates, 8);
  EXPECT_DOUBLE_EQ(all.core_seconds, 11 + 5 + 2);
  EXPECT_DOUBLE_EQ(all.seconds, 21 + 5);
  EXPECT_DOUBLE_EQ(estimate(place, rates, 1).seconds, 30);
}

TEST(Estimate, TrialsAreShortAndStandForTheirKinds) {
  Setting setting = mini_setting();
  setting.scale.addp.steps = setting.scale.ablation.steps = 1000;
  Plan plan;
  Jobs jobs(setting, plan);
  make_study("mapping", jobs);
  const testing::TemporaryFolder folder;
  const Plan trial = trial_plan(Workplace(plan, folder.path()), 3);
  std::set<std::string> kinds;
  for (const StudyJob& one : trial.jobs()) {
    EXPECT_TRUE(kinds.insert(one.kind).second) << one.kind;
    EXPECT_LE(units_of(one), 3) << one.name;
  }
  for (const StudyJob& one : plan.jobs()) EXPECT_TRUE(kinds.contains(one.kind)) << one.kind;
}

}  // namespace
}  // namespace addp
