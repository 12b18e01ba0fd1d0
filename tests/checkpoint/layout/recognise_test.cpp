#include "checkpoint/layout/recognise.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/convert.h"
#include "checkpoint/model_kind.h"
#include "checkpoint/python.h"
#include "support/fixtures.h"

namespace addp {
namespace {

using Json = nlohmann::json;
using testing::TemporaryFolder;

// Reads "key: 12" and "- 12" lines of the small YAML file beside the fixtures.
std::vector<std::int64_t> yaml_numbers(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  std::vector<std::int64_t> numbers;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos) continue;
    const std::string text = line.substr(start);
    if (text.starts_with("- ")) {
      if (inside) numbers.push_back(std::stoll(text.substr(2)));
      continue;
    }
    inside = text.starts_with(key + ":");
    if (inside && text.size() > key.size() + 2) return {std::stoll(text.substr(key.size() + 1))};
  }
  return numbers;
}

std::int64_t elements(const TensorMap& tensors, const std::string& prefix) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix) && is_floating(tensor.dtype)) count += tensor.numel();
  }
  return count;
}

TEST(Recognise, PublishedCheckpoints) {
  const auto folders = testing::network_fixtures();
  if (folders.empty()) GTEST_SKIP() << "needs fixture addp-mini";
  for (const auto& folder : folders) {
    SCOPED_TRACE(folder.string());
    const Checkpoint file = open_checkpoint(folder / "addp.pth");
    const Recognition addp = recognise(file);
    EXPECT_EQ(addp.kind, "addp");
    EXPECT_EQ(addp.details["width"], file.tensors.at("token_emb.weight").shape[1]);
    EXPECT_EQ(addp.details["vocabulary"], file.tensors.at("token_emb.weight").shape[0]);
    EXPECT_EQ(addp.details["decoder_depth"], file.metadata["args"]["decoder_depth"]);
    EXPECT_EQ(addp.details["tokens"], file.tensors.at("pos_embed").shape[1] - 1);
    EXPECT_EQ(addp.unused, (std::vector<std::string>{"decoder_pos_embed", "decoder_pred.bias",
                                                     "decoder_pred.weight", "pos_mask_embed",
                                                     "pos_token_embed"}));
    EXPECT_EQ(addp.parameters, static_cast<std::uint64_t>(elements(file.tensors, "")));
    EXPECT_EQ(addp.parts.at("blocks"),
              static_cast<std::uint64_t>(elements(file.tensors, "blocks.")));
    EXPECT_TRUE(addp.non_finite.empty());
    EXPECT_EQ(addp.file_bytes, std::filesystem::file_size(folder / "addp.pth"));

    const Recognition tokenizer = recognise(open_checkpoint(folder / "vqgan.ckpt"));
    const auto yaml = folder / "vqgan.yaml";
    EXPECT_EQ(tokenizer.kind, "tokenizer");
    EXPECT_EQ(tokenizer.details["channels"], yaml_numbers(yaml, "ch").at(0));
    EXPECT_EQ(tokenizer.details["multipliers"], Json(yaml_numbers(yaml, "ch_mult")));
    EXPECT_EQ(tokenizer.details["blocks"], yaml_numbers(yaml, "num_res_blocks").at(0));
    EXPECT_EQ(tokenizer.details["codes"], yaml_numbers(yaml, "n_embed").at(0));
    EXPECT_EQ(tokenizer.details["code_width"], yaml_numbers(yaml, "embed_dim").at(0));
    EXPECT_EQ(tokenizer.details["factor"], 1 << (yaml_numbers(yaml, "ch_mult").size() - 1));

    const Checkpoint mage = open_checkpoint(folder / "mage.pth");
    const Recognition predictor = recognise(mage);
    EXPECT_EQ(predictor.kind, "predictor");
    EXPECT_EQ(predictor.details["has_tokenizer"],
              mage.tensors.contains("vqgan.quantize.embedding.weight"));
    EXPECT_EQ(predictor.details["vocabulary"],
              mage.tensors.at("token_emb.word_embeddings.weight").shape[0]);

    const Checkpoint fine_tuned = open_checkpoint(folder / "classifier.pth");
    const Recognition classifier = recognise(fine_tuned);
    EXPECT_EQ(classifier.kind, "classifier");
    EXPECT_EQ(classifier.details["classes"], fine_tuned.tensors.at("head.weight").shape[0]);
    EXPECT_EQ(classifier.details["pool"], "mean");
  }
}

// Tensors of the given shapes without bytes of their own: nothing here looks at numbers.
TensorMap hollow(const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  TensorMap tensors;
  for (const auto& [name, shape] : shapes) {
    TensorView view;
    view.shape = shape;
    view.strides = contiguous_strides(shape);
    tensors[name] = view;
  }
  return tensors;
}

std::string kind_of(const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  Checkpoint checkpoint;
  checkpoint.tensors = hollow(shapes);
  return recognise(checkpoint, {.count_non_finite = false}).kind;
}

TEST(Recognise, InceptionAndResNetByTheirKeyLists) {
  ADDP_REQUIRE_FIXTURE(ops, "ops");
  std::map<std::string, std::vector<std::int64_t>> shapes =
      Json::parse(read_text_file(ops / "inception_keys.json"));
  Checkpoint checkpoint;
  checkpoint.tensors = hollow(shapes);
  const Recognition whole = recognise(checkpoint, {.count_non_finite = false});
  EXPECT_EQ(whole.kind, "inception");
  EXPECT_EQ(whole.details["fc"], true);
  checkpoint.tensors.erase("fc.weight");
  checkpoint.tensors.erase("fc.bias");
  EXPECT_EQ(recognise(checkpoint, {.count_non_finite = false}).details["fc"], false);

  std::map<std::string, std::vector<std::int64_t>> resnet;
  for (const std::string name : Json::parse(read_text_file(ops / "resnet50_keys.json")))
    resnet[name] = {1, 1, 1, 1};
  resnet["conv1.weight"] = {64, 3, 7, 7};
  EXPECT_EQ(kind_of(resnet), "resnet50");
}

TEST(Recognise, RealWeightFiles) {
  ADDP_REQUIRE_WEIGHTS(inception_file, "inception-2015-12-05-fp16.safetensors");
  ADDP_REQUIRE_WEIGHTS(lpips_file, "lpips-alex-fp16.safetensors");
  const Recognition inception = recognise(open_checkpoint(inception_file));
  EXPECT_EQ(inception.kind, "inception");
  EXPECT_EQ(inception.details["fc"], false);
  EXPECT_TRUE(inception.non_finite.empty());
  const Recognition lpips = recognise(open_checkpoint(lpips_file));
  EXPECT_EQ(lpips.kind, "lpips");
  EXPECT_EQ(lpips.details["backbone"], "alex");
}

TEST(Recognise, Others) {
  std::map<std::string, std::vector<std::int64_t>> vit{{"blocks.0.attn.qkv.weight", {48, 16}},
                                                       {"blocks.0.mlp.fc1.weight", {64, 16}},
                                                       {"patch_embed.proj.weight", {16, 3, 8, 8}},
                                                       {"pos_embed", {1, 17, 16}}};
  EXPECT_EQ(kind_of(vit), "vit");
  vit["decoder_blocks.0.attn.qkv.weight"] = {24, 8};
  EXPECT_EQ(kind_of(vit), "mae");
  EXPECT_EQ(kind_of({{"x", {2}}}), "tensors");
  EXPECT_EQ(kind_of({}), "tensors");
  EXPECT_EQ(kind_of({{"encoder.conv_in.weight", {0, 3, 3, 3}},
                     {"decoder.conv_out.weight", {3, 0, 3, 3}},
                     {"quantize.embedding.weight", {0, 0}}}),
            "tensors");
}

TEST(Recognise, OwnFilesSayWhatTheyAre) {
  const TemporaryFolder scratch;
  OwnMetadata own;
  own.kind = "detector";
  own.version = "1.2";
  own.config = {{"classes", 80}};
  own.provenance = {{"steps", 7}};
  Bytes nan(4, 0xff);
  write_safetensors(scratch / "own.safetensors", {{"w", make_tensor(DType::kF32, {1}, nan)}},
                    to_safetensors_metadata(own));
  const Checkpoint checkpoint = open_checkpoint(scratch / "own.safetensors");
  const Recognition found = recognise(checkpoint);
  EXPECT_EQ(found.kind, "detector");
  EXPECT_EQ(found.details["classes"], 80);
  EXPECT_EQ(found.uses, about(ModelKind::kDetector).uses);
  EXPECT_EQ(found.non_finite.at("w"), 1u);
  EXPECT_EQ(own_metadata(checkpoint)->provenance["steps"], 7);
  EXPECT_EQ(found.to_json()["kind"], "detector");

  write_safetensors(scratch / "bad.safetensors", {},
                    {{"addp.kind", "addp"}, {"addp.config", "[[["}});
  EXPECT_THROW(recognise(open_checkpoint(scratch / "bad.safetensors")), DataError);
}

}  // namespace
}  // namespace addp
