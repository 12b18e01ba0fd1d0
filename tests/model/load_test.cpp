// Strict loading and model files.
#include "model/load.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "model/init.h"
#include "model/model_file.h"
#include "nn/layer/block.h"
#include "nn/layer/param_groups.h"
#include "nn/torch.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

class Small : public torch::nn::Module {
 public:
  Small() {
    blocks = make_blocks(*this, "blocks", 2, {.width = 8, .heads = 2});
    steps = register_buffer("steps", torch::zeros({3}));
    initialise(*this, RandomStream(1, "test"));
  }
  std::vector<std::shared_ptr<Block>> blocks;
  Tensor steps;
};

TEST(Load, TensorsKeepTypeShapeAndValues) {
  for (const auto type : {torch::kFloat32, torch::kFloat64, torch::kInt64, torch::kUInt8,
                          torch::kBool, torch::kBFloat16, torch::kFloat16}) {
    const Tensor x = (torch::arange(12).view({3, 4}).remainder(2)).to(type);
    const Tensor y = to_torch(to_view(x.t()));
    EXPECT_EQ(y.scalar_type(), type);
    EXPECT_TRUE(y.equal(x.t()));
  }
  EXPECT_EQ(to_torch(to_view(torch::empty({0, 3}))).size(1), 3);
}

TEST(Load, FillsParametersAndBuffers) {
  Small a, b;
  {
    torch::NoGradGuard no_grad;
    for (Tensor& p : a.parameters()) p.add_(1);
    a.steps.fill_(5);
  }
  const LoadReport report = load_strictly(b, state_of(a), {.source = "file"});
  EXPECT_EQ(report.loaded, a.parameters().size() + 1);
  EXPECT_TRUE(b.steps.equal(a.steps));
  for (const auto& item : a.named_parameters()) {
    EXPECT_TRUE(item.value().equal(b.named_parameters()[item.key()])) << item.key();
  }
}

TEST(Load, HalfPrecisionFillsAFloatNetwork) {
  Small network;
  TensorMap half;
  for (const auto& [name, view] : state_of(Small())) {
    half[name] = to_view((to_torch(view) + 0.25).to(torch::kFloat16));
  }
  load_strictly(network, half, {.source = "file"});
  for (const auto& item : network.named_parameters()) {
    EXPECT_EQ(item.value().scalar_type(), torch::kFloat32) << item.key();
    EXPECT_TRUE(item.value().equal(to_torch(half.at(item.key())).to(torch::kFloat32)))
        << item.key();
  }
}

TEST(Load, NamesEveryDifferenceAndChangesNothing) {
  Small network;
  TensorMap tensors = state_of(network);
  tensors.erase("blocks.0.norm1.weight");
  tensors["blocks.1.norm1.bias"] = to_view(torch::zeros({9}));
  tensors["blocks.0.norm1.bias"] = to_view(torch::ones({8}));
  tensors["surplus"] = to_view(torch::zeros({1}));
  const std::string message = testing::message_of<DataError>(
      [&] { load_strictly(network, tensors, {.source = "some.file"}); });
  for (const char* part :
       {"some.file", "blocks.0.norm1.weight", "blocks.1.norm1.bias", "surplus"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  EXPECT_TRUE((network.named_parameters()["blocks.0.norm1.bias"] == 0).all().item<bool>());
}

TEST(Load, PrefixRenamingAndUnusedNames) {
  Small a, b;
  const auto rename = [](const std::string& name) { return "x." + name; };
  TensorMap tensors = state_of(a, rename, "net.");
  tensors["net.old.weight"] = to_view(torch::zeros({1}));
  tensors["other"] = to_view(torch::zeros({1}));
  const LoadReport report = load_strictly(
      b, tensors, {.source = "file", .prefix = "net.", .unused = {"old.*"}, .file_name = rename});
  EXPECT_EQ(report.unused, std::vector<std::string>{"old.weight"});
  EXPECT_THROW(load_strictly(b, tensors, {.source = "file", .prefix = "net.", .file_name = rename}),
               DataError);
}

TEST(ModelFile, KeepsKindConfigurationAndProvenance) {
  const testing::TemporaryFolder folder;
  Small network;
  save_model(folder.path(), {.kind = "toy", .tensors = state_of(network), .config = {{"width", 8}}},
             R"({"data": "none"})");
  const ModelFile file = open_model(folder.path());
  EXPECT_EQ(file.kind, "toy");
  EXPECT_EQ(file.config.at("width"), 8);
  EXPECT_EQ(file.provenance.at("data"), "none");
  EXPECT_EQ(file.tensors.size(), state_of(network).size());
  EXPECT_NO_THROW(require_kind(file, {"toy", "other"}));
  EXPECT_THROW(require_kind(file, {"other"}), DataError);
  EXPECT_THROW(open_model(folder.path() / "missing"), Error);
  EXPECT_THROW(parse_config<std::vector<int>>(file.config, "file"), DataError);
}

TEST(ParamGroups, OnlyMatricesDecay) {
  Small network;
  network.blocks[0]->parameters()[0].set_requires_grad(false);
  const auto groups = decay_groups(network, 0.05);
  ASSERT_EQ(groups.size(), 2U);
  std::size_t total = 0;
  for (const ParamGroup& group : groups) {
    for (const Tensor& p : group.parameters) EXPECT_EQ(p.dim() >= 2, group.weight_decay > 0);
    total += group.parameters.size();
  }
  EXPECT_EQ(total, network.parameters().size() - 1) << "frozen parameters are left out";
}

TEST(Load, NumbersThatAreNotFiniteAreRefused) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Small a, b;
    {
      torch::NoGradGuard no_grad;
      a.blocks[1]->parameters()[0].flatten()[3] = bad;
    }
    const Tensor before = b.parameters()[0].detach().clone();
    const std::string message =
        testing::message_of<DataError>([&] { load_strictly(b, state_of(a), {.source = "file"}); });
    EXPECT_NE(message.find("file: 1 values of 'blocks.1."), std::string::npos) << message;
    EXPECT_TRUE(b.parameters()[0].equal(before));
  }
}

}  // namespace
}  // namespace addp
