// Tables 3 to 6: what ADDP is trained with.
#include <cmath>

#include "reproduce/plan/studies.h"
#include "reproduce/plan/study_parts.h"

namespace addp {
namespace {

struct Ablation {
  std::string label;
  Variant variant;
  double fid, score, accuracy;  // published
};

StudyRow ablation_row(Jobs& jobs, const Ablation& ablation, std::int64_t seeds) {
  const auto fid = [&](std::int64_t s) { return jobs.fid_of_addp(ablation.variant, s); };
  const auto classifier = [&](std::int64_t s) {
    return jobs.classifier(Start::kAddp, s, ablation.variant);
  };
  return {ablation.label,
          {cell_of(ablation.fid, seeds, fid), cell_of(ablation.score, seeds, fid),
           cell_of(ablation.accuracy, seeds, classifier)}};
}

StudyTable ablation_table(Jobs& jobs, const std::string& title, std::int64_t seeds,
                          const std::vector<Ablation>& ablations) {
  StudyTable table{title, {fid_measure(), score_measure(), accuracy_measure("fine-tuning")}, {}};
  for (const Ablation& ablation : ablations) {
    table.rows.push_back(ablation_row(jobs, ablation, seeds));
  }
  return table;
}

// Two rows differ by less than `margin`.
Claim alike(const std::string& text, const std::string& published, std::size_t row,
            std::size_t other, std::size_t measure, double margin) {
  return {text,
          published,
          {{0, row, measure}, {0, other, measure}},
          [margin](const std::vector<double>& m) { return margin - std::abs(m[0] - m[1]); }};
}

}  // namespace

Study condition_study(Jobs& jobs) {
  Study study{.title = "Condition of the unreliable tokens",
              .about =
                  "Unreliable tokens predicted from the reliable ones of the step before, or "
                  "from those of the same step; one seed."};
  study.tables = {ablation_table(jobs, "Table 3: condition of the unreliable tokens", 1,
                                 {{"z_t for the tokens of t-1", jobs.usual(), 23.63, 33.09, 83.5},
                                  {"z_{t-1} itself",
                                   {.name = "same", .training = {"--condition", "same"}},
                                   80.75,
                                   13.48,
                                   83.7}})};
  const StudyTable& t = study.tables[0];
  study.claims = {
      better("The step before as condition generates better", "FID 23.63 against 80.75", t, 0, 1,
             0),
      alike("Fine-tuning hardly differs (by less than a point)", "83.5 against 83.7", 0, 1, 2, 1)};
  say_what_is_missing(jobs.setting(), study, true, true);
  return study;
}

Study mapping_study(Jobs& jobs) {
  const auto mapped = [](const std::string& name) {
    return Variant{.name = name, .training = {"--mapping", name}, .sampling = {"--mapping", name}};
  };
  Study study{.title = "Mapping function f",
              .about =
                  "How the distribution of an unreliable token becomes an embedding, in training "
                  "and in generation."};
  study.tables = {ablation_table(jobs, "Table 4: mapping function f", jobs.setting().seeds,
                                 {{"WeightedSum", jobs.usual(), 23.63, 33.09, 83.5},
                                  {"ArgMax", mapped("argmax"), 26.62, 30.03, 83.5},
                                  {"Sampling", mapped("sampling"), 38.79, 23.44, 83.2}})};
  const StudyTable& t = study.tables[0];
  study.claims = {
      better("WeightedSum generates better than ArgMax", "FID 23.63 against 26.62", t, 0, 1, 0),
      better("ArgMax generates better than Sampling", "FID 26.62 against 38.79", t, 1, 2, 0),
      better("WeightedSum classifies better than Sampling", "83.5 against 83.2", t, 0, 2, 2),
      alike("WeightedSum and ArgMax classify alike (within a point)", "83.5 and 83.5", 0, 1, 2, 1)};
  say_what_is_missing(jobs.setting(), study, true, true);
  return study;
}

Study token_study(Jobs& jobs) {
  const auto fed = [](const std::string& name) {
    return Variant{.name = name, .training = {"--token-input", name}};
  };
  const std::vector<Ablation> rows = {
      {"decoder only", jobs.usual(), 23.63, 33.09, 83.5},
      {"encoder and decoder", fed("encoder-decoder"), 20.40, 37.20, 81.5},
      {"none", fed("none"), 36.24, 21.71, 83.1}};
  Study study{.title = "Token input",
              .about = "Where the reliable tokens enter the network beside the pixels."};
  study.tables = {ablation_table(jobs, "Table 5: token input", jobs.setting().seeds, rows)};
  StudyTable& t = study.tables[0];
  t.measures.push_back(accuracy_measure("linear", "probe"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    t.rows[i].cells.push_back(cell_of({}, jobs.setting().seeds, [&](auto s) {
      return jobs.probe(Start::kAddp, s, rows[i].variant);
    }));
  }
  t.note = "The paper has no linear probe of these.";
  study.claims = {
      better("Tokens for the decoder generate better than none", "FID 23.63 against 36.24", t, 0, 2,
             0),
      better("Tokens for the encoder, too, generate better still", "FID 20.40 against 23.63", t, 1,
             0, 0),
      better("Tokens for the encoder cost accuracy", "83.5 against 81.5", t, 0, 1, 2),
      better("Tokens for the decoder classify better than none", "83.5 against 83.1", t, 0, 2, 2),
      better("Without tokens the linear probe is better", "", t, 2, 0, 3)};
  say_what_is_missing(jobs.setting(), study, true, true);
  return study;
}

Study target_study(Jobs& jobs) {
  const auto target = [](const std::string& name) {
    return Variant{.name = name, .training = {"--target", name}};
  };
  const Variant fixed{.name = "truth-fixed",
                      .training = {"--target", "truth", "--mask-fixed", "0.5"}};
  Study study{.title = "Prediction target and mask ratio",
              .about =
                  "Learning the predictor's distribution q, the true token, or both; mask ratios "
                  "drawn from the distribution, or always half."};
  study.tables = {ablation_table(jobs, "Table 6: prediction target and mask ratio",
                                 jobs.setting().seeds,
                                 {{"q, mask ratios drawn", jobs.usual(), 23.63, 33.09, 83.5},
                                  {"truth, mask ratios drawn", target("truth"), 39.41, 18.62, 83.2},
                                  {"both, mask ratios drawn", target("both"), 30.43, 23.40, 83.5},
                                  {"truth, mask ratio 50%", fixed, 166.54, 4.73, 83.4}})};
  const StudyTable& t = study.tables[0];
  study.claims = {
      better("Learning q generates better than learning the truth", "FID 23.63 against 39.41", t, 0,
             1, 0),
      better("Both lie in between: better than the truth alone", "FID 30.43 against 39.41", t, 2, 1,
             0),
      better("Both lie in between: worse than q alone", "FID 23.63 against 30.43", t, 0, 2, 0),
      better("A fixed mask ratio does not generate", "FID 39.41 against 166.54", t, 1, 3, 0),
      better("Learning q classifies better than learning the truth", "83.5 against 83.2", t, 0, 1,
             2)};
  say_what_is_missing(jobs.setting(), study, true, true);
  return study;
}

}  // namespace addp
