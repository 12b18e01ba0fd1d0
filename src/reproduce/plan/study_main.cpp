// Tables 2, 7 and 12 (ADDP against MAGE), 1 (pixels against tokens) and 8 (a ResNet).
#include "reproduce/plan/studies.h"
#include "reproduce/plan/study_parts.h"

namespace addp {
namespace {

const std::optional<double> kNone;

// MAGE and ADDP in every task.
StudyRow compared_row(Jobs& jobs, const std::string& label, Start start,
                      const std::vector<std::optional<double>>& published) {
  const std::int64_t seeds = jobs.setting().seeds;
  const auto fid = [&](std::int64_t seed) {
    return start == Start::kAddp ? jobs.fid_of_addp({}, seed) : jobs.fid_of_mage(seed);
  };
  const auto detector = [&](std::int64_t seed) { return jobs.detector(start, seed); };
  StudyRow row{label, {}};
  row.cells.push_back(cell_of(published[0], seeds, fid));
  row.cells.push_back(cell_of(published[1], seeds, fid));
  for (Cell& cell : row.cells) cell.trained_once = start == Start::kMage;
  row.cells.push_back(cell_of(published[2], seeds,
                              [&](std::int64_t seed) { return jobs.classifier(start, seed); }));
  row.cells.push_back(cell_of(published[3], seeds, [&](std::int64_t seed) {
    return start == Start::kScratch ? std::string() : jobs.probe(start, seed);
  }));
  row.cells.push_back(cell_of(published[4], seeds, detector));
  row.cells.push_back(cell_of(published[5], seeds, detector));
  row.cells.push_back(
      cell_of(published[6], seeds, [&](std::int64_t seed) { return jobs.segmenter(start, seed); }));
  return row;
}

StudyTable main_table(Jobs& jobs) {
  StudyTable table{
      "Tables 7 and 2: ADDP against MAGE, ViT-B in the paper",
      {fid_measure(), score_measure(), accuracy_measure("fine-tuning"),
       accuracy_measure("linear", "probe"), box_measure(), mask_measure(), map_measure()},
      {}};
  table.rows.push_back(
      compared_row(jobs, "MAGE", Start::kMage, {11.0, 95.42, 82.5, 74.7, 36.3, 31.3, 39.6}));
  table.rows.push_back(
      compared_row(jobs, "ADDP", Start::kAddp, {8.9, 95.32, 83.9, 11.5, 51.7, 45.8, 48.1}));
  StudyRow scratch{"from scratch, same encoder", {}};
  const std::int64_t seeds = jobs.setting().seeds;
  const auto detector = [&](std::int64_t s) { return jobs.detector(Start::kScratch, s); };
  scratch.cells = {
      {},
      {},
      cell_of(82.6, seeds, [&](auto s) { return jobs.classifier(Start::kScratch, s); }),
      {},
      cell_of(kNone, seeds, detector),
      cell_of(kNone, seeds, detector),
      cell_of(kNone, seeds, [&](auto s) { return jobs.segmenter(Start::kScratch, s); })};
  table.rows.push_back(scratch);
  table.rows.push_back(published_row("MAE, ViT-B", {kNone, kNone, 83.6, 68.0, 51.6, 45.9, 48.1}));
  table.rows.push_back(published_row("BEiT, ViT-B", {kNone, kNone, 83.2, 37.6, 49.8, 44.4, 47.1}));
  table.rows.push_back(published_row("MAGE, ViT-L", {9.1, 105.1, 83.9, 78.9, 31.4, 27.6, 43.1}));
  table.rows.push_back(published_row("ADDP, ViT-L", {7.6, 105.1, 85.9, 23.8, 54.6, 48.2, 54.3}));
  table.note =
      "MAGE is the token predictor that ADDP learns from. It is trained once, so that its FID varies "
      "with the pictures that are drawn alone; heads are trained anew for every seed.";
  return table;
}

StudyTable recall_table(Jobs& jobs) {
  const std::int64_t seeds = jobs.setting().seeds;
  StudyTable table{"Table 12: quality and diversity, ViT-L in the paper",
                   {fid_measure(), precision_measure(), recall_measure()},
                   {}};
  const auto row = [&](const std::string& label, auto job, double fid, double precision,
                       double recall) {
    return StudyRow{
        label,
        {cell_of(fid, seeds, job), cell_of(precision, seeds, job), cell_of(recall, seeds, job)}};
  };
  table.rows.push_back(row(
      "MAGE", [&](auto s) { return jobs.fid_of_mage(s); }, 9.1, 0.75, 0.47));
  table.rows.push_back(row(
      "ADDP", [&](auto s) { return jobs.fid_of_addp({}, s); }, 7.6, 0.74, 0.49));
  for (Cell& cell : table.rows[0].cells) cell.trained_once = true;
  table.rows.push_back(published_row("ADM", {26.2, 0.61, 0.63}));
  table.rows.push_back(published_row("ADM, guided", {12.0, 0.76, 0.44}));
  return table;
}

}  // namespace

Study main_study(Jobs& jobs) {
  Study study{.title = "ADDP against MAGE",
              .about =
                  "One encoder for generation and recognition: ADDP, which sees pixels, against "
                  "MAGE, which sees tokens, and against the same encoder from scratch."};
  study.tables = {main_table(jobs), recall_table(jobs)};
  const StudyTable& t = study.tables[0];
  study.claims = {
      better("ADDP generates better pictures than MAGE (FID)", "8.9 against 11.0", t, 1, 0, 0),
      better("ADDP classifies better than MAGE when fine-tuned", "83.9 against 82.5", t, 1, 0, 2),
      better("ADDP's linear probe is worse than MAGE's", "11.5 against 74.7", t, 0, 1, 3),
      better("ADDP detects better than MAGE (boxes)", "51.7 against 36.3", t, 1, 0, 4),
      better("ADDP detects better than MAGE (masks)", "45.8 against 31.3", t, 1, 0, 5),
      better("ADDP segments better than MAGE", "48.1 against 39.6", t, 1, 0, 6),
      better("ADDP classifies better than the encoder from scratch", "83.9 against 82.6", t, 1, 2,
             2),
      better("ADDP's pictures are more diverse than MAGE's (recall)", "0.49 against 0.47",
             study.tables[1], 1, 0, 2, 1),
      better("MAGE's precision is a little higher", "0.75 against 0.74", study.tables[1], 0, 1, 1,
             1),
  };
  say_what_is_missing(jobs.setting(), study, true, true, true);
  return study;
}

Study input_study(Jobs& jobs) {
  const std::int64_t seeds = jobs.setting().seeds;
  Study study{.title = "Pixels or tokens as input",
              .about =
                  "The same encoder from scratch, fed with pixels or with the tokens of the "
                  "frozen tokenizer, with one recipe and length."};
  StudyTable table{"Table 1: input of the encoder",
                   {accuracy_measure("classes"), box_measure(), mask_measure(), map_measure()},
                   {}};
  const auto row = [&](const std::string& label, Start start, double classes, double boxes,
                       double maps) {
    const auto detector = [&, start](std::int64_t s) { return jobs.detector(start, s); };
    return StudyRow{label,
                    {cell_of(classes, seeds, [&](auto s) { return jobs.classifier(start, s); }),
                     cell_of(boxes, seeds, detector), cell_of(kNone, seeds, detector),
                     cell_of(maps, seeds, [&](auto s) { return jobs.segmenter(start, s); })}};
  };
  table.rows = {row("pixels", Start::kScratch, 82.6, 29.4, 43.7),
                row("tokens", Start::kScratchTokens, 81.6, 12.3, 31.1)};
  table.note = "Published boxes are those of 256x256 pictures.";
  study.tables = {table};
  const StudyTable& t = study.tables[0];
  study.claims = {
      better("Pixels are better for classes", "82.6 against 81.6", t, 0, 1, 0),
      better("Pixels are better for boxes", "29.4 against 12.3", t, 0, 1, 1),
      better("Pixels are better for label maps", "43.7 against 31.1", t, 0, 1, 3),
  };
  const auto wider = [](const std::vector<double>& m) {
    return (m[2] - m[3]) / m[2] - (m[0] - m[1]) / m[0];
  };
  study.claims.push_back({"Tokens lose a larger share for boxes than for classes",
                          "58% against 1.2%",
                          {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}},
                          wider});
  study.claims.push_back({"Tokens lose a larger share for label maps than for classes",
                          "29% against 1.2%",
                          {{0, 0, 0}, {0, 1, 0}, {0, 0, 3}, {0, 1, 3}},
                          wider});
  say_what_is_missing(jobs.setting(), study, false, true, true);
  return study;
}

Study resnet_study(Jobs& jobs) {
  const Variant resnet{.name = "resnet",
                       .training = {"--encoder", jobs.setting().scale.convolutional}};
  Study study{.title = "A convolutional encoder",
              .about = "ADDP with a ResNet in place of the ViT; one seed."};
  StudyTable table{
      "Table 8: ResNet-50 in the paper", {fid_measure(), accuracy_measure("fine-tuning")}, {}};
  table.rows.push_back(
      {"ADDP",
       {cell_of(17.1, 1, [&](auto s) { return jobs.fid_of_addp(resnet, s); }),
        cell_of(79.7, 1, [&](auto s) { return jobs.classifier(Start::kAddp, s, resnet); })}});
  table.rows.push_back(
      {"from scratch (RSB-A3 in the paper)",
       {{}, cell_of(78.1, 1, [&](auto s) { return jobs.classifier(Start::kScratchResnet, s); })}});
  table.rows.push_back(published_row("CIM", {kNone, 78.6}));
  table.rows.push_back(published_row("MaskGIT", {20.7, kNone}));
  study.tables = {table};
  study.claims = {better("ADDP pre-trains a ResNet, too: better than from scratch",
                         "79.7 against 78.1", study.tables[0], 0, 1, 1)};
  say_what_is_missing(jobs.setting(), study, true, true);
  return study;
}

}  // namespace addp
