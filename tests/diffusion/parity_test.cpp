// One training step, stage by stage and as a chain, against the released program.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "diffusion/addp_fixture.h"
#include "diffusion/addp_loss.h"
#include "diffusion/mapping.h"
#include "machine/precision.h"
#include "nn/layer/param_groups.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::AddpFixture;
using testing::kParity;
using testing::relative_error;

// Names in published files of the parameters that our network has.
std::map<std::string, Tensor> published_parameters(const Addp& addp) {
  const auto name_of = file_names(addp.config().encoder.kind);
  std::map<std::string, Tensor> parameters;
  for (const auto& item : addp.named_parameters()) parameters[name_of(item.key())] = item.value();
  return parameters;
}

void expect_recorded_gradients(const AddpFixture& fixture) {
  double squares = 0;
  for (const auto& [name, parameter] : published_parameters(*fixture.addp)) {
    ASSERT_TRUE(parameter.grad().defined()) << name;
    squares += parameter.grad().to(torch::kFloat64).square().sum().item<double>();
    const auto recorded = fixture.want.find("grad." + name);
    if (recorded != fixture.want.end()) {
      EXPECT_LT(relative_error(parameter.grad(), recorded->second), kParity) << name;
    }
  }
  const double wanted = fixture.want.at("grad_norm").item<double>();
  EXPECT_NEAR(std::sqrt(squares), wanted, kParity * wanted);
}

class Parity : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) scope_.emplace();
  }
  std::optional<ReferenceArithmetic> scope_;
};

TEST_P(Parity, EachStageOnItsOwnInput) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    AddpFixture f(folder);
    const Predictions q =
        predict_tokens(*f.predictor, f.z_t.tokens, f.masks, f.grid, Condition::kNext, nullptr);
    EXPECT_LT(relative_error(q.target, f.unreliable_cells("predictor_prob_t")), kParity);
    const Tensor unreliable =
        map_to_embeddings(Mapping::kWeightedSum, q.unreliable, f.tokenizer->codebook());
    EXPECT_LT(relative_error(unreliable, f.unreliable_cells("unreliable_embedding")), kParity);
    const Tensor recorded =
        f.want.at("unreliable_embedding").flatten(2).transpose(1, 2).contiguous();
    const Tensor mixed = mixed_embeddings(*f.tokenizer, f.z_t.tokens, f.z_t.masked, recorded);
    EXPECT_LT(relative_error(f.tokenizer->decode(to_grid(mixed, f.grid)), f.want.at("x_t")),
              kParity);
    EXPECT_LT(relative_error(f.encoder_out(), f.wanted_encoder_out()), kParity);
    EXPECT_LT(relative_error(f.addp->logits(f.decoded()), f.wanted_logits()), kParity);
    const double loss =
        addp_loss(*f.addp, f.decoded(), f.z_t, q.target, Target::kPredictor, 0.1).item<double>();
    EXPECT_NEAR(loss, f.want.at("loss").item<double>(), kParity * loss);
  }
}

TEST_P(Parity, TheWholeChainAndItsGradients) {
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    AddpFixture f(folder);
    const Tensor z0 = f.tokenizer->encode(f.want.at("image"));
    ASSERT_TRUE(z0.equal(f.want.at("z0_indices")));
    const ReliableTokens z_t{z0, f.masks.current, f.grid};
    const Predictions q =
        predict_tokens(*f.predictor, z0, f.masks, f.grid, Condition::kNext, nullptr);
    const Tensor x_t = noisy_pixels(*f.tokenizer, z0, z_t.masked, q.unreliable, f.grid,
                                    Mapping::kWeightedSum, RandomStream(0, "none"), 0);
    EXPECT_LT(relative_error(x_t, f.want.at("x_t")), kParity);
    const Tensor decoded = f.addp->decode(f.addp->encode(encoder_input(x_t), z_t), z_t);
    EXPECT_LT(relative_error(f.addp->logits(decoded), f.wanted_logits()), kParity);
    const Tensor loss = addp_loss(*f.addp, decoded, z_t, q.target, Target::kPredictor, 0.1);
    EXPECT_NEAR(loss.item<double>(), f.want.at("loss").item<double>(),
                kParity * loss.item<double>());
    loss.backward();
    expect_recorded_gradients(f);
  }
}

INSTANTIATE_TEST_SUITE_P(Arithmetic, Parity, ::testing::Values(false, true),
                         [](const auto& mode) { return mode.param ? "Reference" : "Fast"; });

TEST(Names, TrainedParametersAreTheReleasedOnes) {
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    const AddpFixture f(folder);
    std::ifstream file(folder / "parameters.json");
    const auto listed = nlohmann::json::parse(file).at("trainable");
    const auto ours = published_parameters(*f.addp);
    for (const auto& [name, parameter] : ours) {
      ASSERT_TRUE(listed.contains(name)) << name;
      EXPECT_EQ(listed.at(name).get<std::vector<std::int64_t>>(), parameter.sizes().vec()) << name;
    }
    for (const auto& [name, shape] : listed.items()) {
      const bool unused =
          std::find(f.report.unused.begin(), f.report.unused.end(), name) != f.report.unused.end();
      EXPECT_NE(ours.contains(name), unused) << name << " is neither trained nor named as unused";
    }
  }
}

// Ten losses in PyTorch: recorded in the folder by tests/diffusion/reference_ten_steps.py, or,
// where ADDP_PYTHON names a Python with torch, computed now. Null when there is neither.
nlohmann::json reference_steps(const std::filesystem::path& folder, const AddpConfig& config) {
  const testing::TemporaryFolder scratch;
  auto record = folder / "ten_steps.json";
  const char* python = std::getenv("ADDP_PYTHON");
  if (!std::filesystem::exists(record) && python != nullptr) {
    record = scratch.path() / "ten_steps.json";
    const std::string command = fmt::format(
        "'{}' '{}/tests/diffusion/reference_ten_steps.py' '{}' "
        "--heads {} --decoder-heads {} --out '{}'",
        python, ADDP_SOURCE_DIR, folder.string(), config.encoder.vit.heads, config.decoder_heads,
        record.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::ifstream file(record);
  return file ? nlohmann::json::parse(file) : nlohmann::json();
}

TEST(TenSteps, LossesFollowPyTorch) {
  bool compared = false;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    AddpFixture f(folder);
    const auto json = reference_steps(folder, f.addp->config());
    if (json.is_null()) continue;
    compared = true;
    const ReferenceArithmetic scope;
    const auto groups = decay_groups(*f.addp, json.at("weight_decay"));
    const auto betas = json.at("betas").get<std::pair<double, double>>();
    std::vector<torch::optim::OptimizerParamGroup> parts;
    for (const ParamGroup& group : groups) {
      auto options = std::make_unique<torch::optim::AdamWOptions>(json.at("lr").get<double>());
      options->betas(betas).weight_decay(group.weight_decay);
      parts.emplace_back(group.parameters, std::move(options));
    }
    torch::optim::AdamW optimizer(std::move(parts));
    const Tensor q = f.unreliable_cells("predictor_prob_t");
    for (const double wanted : json.at("losses").get<std::vector<double>>()) {
      optimizer.zero_grad();
      const Tensor decoded = f.addp->decode(f.encoder_out(), f.z_t);
      const Tensor loss = addp_loss(*f.addp, decoded, f.z_t, q, Target::kPredictor, 0.1);
      EXPECT_NEAR(loss.item<double>(), wanted, kParity * wanted);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(f.addp->parameters(), json.at("clip").get<double>());
      optimizer.step();
    }
  }
  if (!compared) GTEST_SKIP() << "needs python torch";
}

}  // namespace
}  // namespace addp
