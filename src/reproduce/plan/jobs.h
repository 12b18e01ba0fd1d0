// The jobs that studies are made of. Each is added to the plan when it is first asked for, with
// what it needs, so that studies share what they have in common.
#pragma once

#include <string>
#include <vector>

#include "reproduce/plan/plan.h"
#include "reproduce/plan/setting.h"

namespace addp {

// An ADDP that differs from the usual one: a name, the options of training, those of sampling.
struct Variant {
  std::string name{};  // empty: the usual one
  std::vector<std::string> training{}, sampling{};
};

// Where an encoder that is fine-tuned comes from.
enum class Start { kAddp, kMage, kScratch, kScratchTokens, kScratchResnet };

class Jobs {
 public:
  Jobs(const Setting& setting, Plan& plan) : setting_(setting), plan_(plan) {}
  const Setting& setting() const { return setting_; }

  // Models, as a word that names one.
  std::string tokenizer();
  std::string predictor();
  // The ready one, where there is one and the variant is the usual network.
  std::string addp_model(const Variant& variant, std::int64_t seed);

  // The row that ablations are compared with.
  Variant usual() const;

  // Jobs, by name; empty where the machine or the data have not what they need.
  std::string fid_of_addp(const Variant& variant, std::int64_t seed,
                          const std::vector<std::string>& sampling = {},
                          const std::string& label = {});
  std::string fid_of_mage(std::int64_t seed);
  std::string fid_of_tokenizer();
  std::string classifier(Start start, std::int64_t seed, const Variant& variant = {},
                         double share = 1);
  std::string robustness(Start start, std::int64_t seed);
  // `block` 0: the last one.
  std::string probe(Start start, std::int64_t seed, const Variant& variant = {},
                    std::int64_t block = 0, const std::string& position = "mean");
  std::string detector(Start start, std::int64_t seed);
  std::string segmenter(Start start, std::int64_t seed);

  std::string samples();
  std::string trajectory();
  std::string noise();
  std::string fill(const std::string& name, const std::vector<std::string>& what);

 private:
  std::string addp(const Variant& variant, std::int64_t seed);
  std::string train(const std::string& stage, const std::string& name, const StageScale& scale,
                    std::int64_t pictures, std::int64_t seed, std::vector<std::string> words,
                    const std::string& kind = {});
  std::string fid(const std::string& name, const std::string& model, std::int64_t seed,
                  std::vector<std::string> sampling);
  std::string reference();
  std::string tokens();
  std::string held_out_picture();
  std::vector<std::string> token_words(const StageScale& scale);
  std::vector<std::string> start_words(Start start, std::int64_t seed, const Variant& variant);

  const Setting& setting_;
  Plan& plan_;
};

}  // namespace addp
