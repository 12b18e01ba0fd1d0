// Conversion and what Python says about the files we write.
#include "checkpoint/layout/convert.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/layout/shared_tokenizer.h"
#include "checkpoint/pickle/torch_writer.h"
#include "checkpoint/python.h"
#include "support/fixtures.h"

namespace addp {
namespace {

using Json = nlohmann::json;
using testing::TemporaryFolder;

void expect_equal(const TensorMap& a, const TensorMap& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) {
    ASSERT_TRUE(b.contains(name)) << name;
    EXPECT_EQ(tensor.dtype, b.at(name).dtype) << name;
    EXPECT_EQ(tensor.shape, b.at(name).shape) << name;
    EXPECT_EQ(tensor.contiguous_bytes(), b.at(name).contiguous_bytes()) << name;
  }
}

TEST(Convert, ThereAndBack) {
  const auto folders = testing::network_fixtures();
  if (folders.empty()) GTEST_SKIP() << "needs fixture addp-mini";
  for (const auto& folder : folders) {
    for (const char* name : {"addp.pth", "mage.pth", "vqgan.ckpt", "classifier.pth"}) {
      SCOPED_TRACE((folder / name).string());
      const TemporaryFolder scratch;
      const Checkpoint original = open_checkpoint(folder / name);
      const ConvertReport report =
          convert_checkpoint(folder / name, scratch / "a.safetensors", {{}, "0.1"});
      EXPECT_EQ(report.tensors, original.tensors.size());
      const Checkpoint ours = open_checkpoint(scratch / "a.safetensors");
      expect_equal(original.tensors, ours.tensors);
      const auto own = own_metadata(ours);
      ASSERT_TRUE(own.has_value());
      EXPECT_EQ(own->kind, recognise(original).kind);
      EXPECT_EQ(own->config, recognise(original).details);
      EXPECT_EQ(own->provenance["root"], original.root);
      convert_checkpoint(scratch / "a.safetensors", scratch / name);
      const Checkpoint back = open_checkpoint(scratch / name);
      EXPECT_EQ(back.root, original.root);
      EXPECT_EQ(back.metadata.value("epoch", Json()), original.metadata.value("epoch", Json()));
      EXPECT_EQ(back.metadata.value("args", Json()), original.metadata.value("args", Json()));
      expect_equal(original.tensors, back.tensors);
      EXPECT_EQ(own_metadata(back)->kind, own->kind);
    }
  }
}

TEST(Convert, FoldersOfTheMachineStayThere) {
  const TemporaryFolder scratch;
  const OwnMetadata own{
      .kind = "classifier",
      .version = "0.1",
      .config = {{"classes", 2}},
      .provenance = {
          {"command",
           "addp train classifier --data=/home/eve/cells --out '/home/eve/runs/c/' --init runs/addp"},
          {"options", {{"data", "/home/eve/cells"}, {"init", "runs/addp"}, {"steps", 7}}},
          {"start", "/home/eve/my pictures/run 1"},
          {"pages", {"https://example.org/a/b", "1/2", "/"}}}};
  write_safetensors(scratch / "own.safetensors",
                    {{"head.weight", make_tensor(DType::kF32, {1}, Bytes(sizeof(float)))}},
                    to_safetensors_metadata(own));
  convert_checkpoint(scratch / "own.safetensors", scratch / "given.safetensors");
  const Json said = own_metadata(open_checkpoint(scratch / "given.safetensors"))->provenance;
  EXPECT_EQ(said["command"], "addp train classifier --data=cells --out 'c' --init runs/addp");
  EXPECT_EQ(said["options"], (Json{{"data", "cells"}, {"init", "runs/addp"}, {"steps", 7}}));
  EXPECT_EQ(said["start"], "run 1");
  EXPECT_EQ(said["pages"], (Json{"https://example.org/a/b", "1/2", ""}));
}

TEST(Convert, HalfPrecisionKeepsWhatTheFileSaysOfItself) {
  const TemporaryFolder scratch;
  const std::vector<float> values{1.0f, -0.5f, 3.140625f, 1e-3f};
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const OwnMetadata own{.kind = "classifier",
                        .version = "0.1",
                        .config = {{"classes", 2}, {"class_names", {"round", "square"}}},
                        .provenance = {{"data", "shapes"}, {"steps", 7}}};
  write_safetensors(scratch / "full.safetensors",
                    {{"head.weight", make_tensor(DType::kF32, {2, 2}, std::move(bytes))}},
                    to_safetensors_metadata(own));
  convert_checkpoint(scratch / "full.safetensors", scratch / "half.safetensors",
                     {DType::kF16, "9.9"});
  const Checkpoint half = open_checkpoint(scratch / "half.safetensors");
  EXPECT_EQ(half.tensors.at("head.weight").dtype, DType::kF16);
  const auto said = own_metadata(half);
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->kind, own.kind);
  EXPECT_EQ(said->version, own.version);
  EXPECT_EQ(said->config, own.config);
  EXPECT_EQ(said->provenance, own.provenance);
}

TEST(Convert, DroppedEntriesAreNamed) {
  const auto folders = testing::network_fixtures();
  if (folders.empty()) GTEST_SKIP() << "needs fixture addp-mini";
  const TemporaryFolder scratch;
  const ConvertReport report =
      convert_checkpoint(folders[0] / "addp.pth", scratch / "a.safetensors");
  EXPECT_NE(std::find(report.dropped.begin(), report.dropped.end(), "optimizer"),
            report.dropped.end());
}

TEST(Convert, OtherTypes) {
  const TemporaryFolder scratch;
  const std::vector<float> values{1.0f, -3.5f, 1e6f};
  Bytes bytes(12);
  std::memcpy(bytes.data(), values.data(), 12);
  write_safetensors(scratch / "in.safetensors",
                    {{"w", make_tensor(DType::kF32, {3}, bytes)},
                     {"steps", make_tensor(DType::kI64, {}, Bytes(8))}});
  const ConvertReport half =
      convert_checkpoint(scratch / "in.safetensors", scratch / "half.pth", {DType::kF16, ""});
  EXPECT_EQ(half.overflowed, 1u);
  const Checkpoint converted = open_checkpoint(scratch / "half.pth");
  EXPECT_EQ(converted.tensors.at("w").dtype, DType::kF16);
  EXPECT_EQ(converted.tensors.at("steps").dtype, DType::kI64);
  std::uint16_t second = 0;
  std::memcpy(&second, converted.tensors.at("w").bytes.data() + 2, 2);
  EXPECT_EQ(half_to_float(second), -3.5f);
  EXPECT_EQ(
      convert_checkpoint(scratch / "in.safetensors", scratch / "b.safetensors", {DType::kBF16, ""})
          .overflowed,
      0u);
  EXPECT_THROW(convert_checkpoint(scratch / "in.safetensors", scratch / "b.onnx"), UsageError);
  EXPECT_THROW(convert_checkpoint(scratch / "in.safetensors", scratch / "b.pth", {DType::kI8, ""}),
               UsageError);
  EXPECT_THROW(convert_checkpoint(scratch / "none.pth", scratch / "b.pth"), DataError);
  // onto itself
  convert_checkpoint(scratch / "in.safetensors", scratch / "in.safetensors", {DType::kBF16, ""});
  EXPECT_EQ(open_checkpoint(scratch / "in.safetensors").tensors.at("w").dtype, DType::kBF16);
}

TEST(Convert, PythonReadsWhatWeWrite) {
  ADDP_REQUIRE_PYTHON();
  const TemporaryFolder scratch;
  TensorMap tensors;
  for (int i = 0; i < 13; ++i) {
    const auto type = static_cast<DType>(i);
    Bytes bytes(6 * dtype_size(type));
    for (std::size_t k = 0; k < bytes.size(); ++k) {
      bytes[k] = static_cast<std::uint8_t>(type == DType::kBool ? k % 2 : k * 3);
    }
    tensors[fmt::format("t.{}", dtype_name(type))] = make_tensor(type, {2, 3}, bytes);
  }
  tensors["empty"] = make_tensor(DType::kF32, {0, 4}, {});
  tensors["scalar"] = make_tensor(DType::kF32, {}, {0, 0, 128, 63});
  TensorView turned = tensors["t.F32"];
  std::swap(turned.shape[0], turned.shape[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  tensors["turned"] = turned;
  const Json metadata{{"epoch", 7},
                      {"rate", 0.25},
                      {"big", 1099511627776},
                      {"name", "ü"},
                      {"huge", 18446744073709551615u},
                      {"list", {1, nullptr, true, -5, {{"a", "b"}}}}};
  std::string arguments = "strict";
  const auto job = [&](const std::string& name) {
    arguments += fmt::format(" '{}' '{}'", scratch / name, scratch / (name + ".out"));
  };
  write_torch_file(scratch / "a.pth", tensors, "model", metadata);
  write_torch_file(scratch / "top.pth", tensors, "");
  write_safetensors(scratch / "a.safetensors", tensors, {{"note", "x"}});
  for (const char* name : {"a.pth", "top.pth", "a.safetensors"}) job(name);
  const auto folders = testing::network_fixtures();
  if (!folders.empty()) {
    convert_checkpoint(folders[0] / "addp.pth", scratch / "addp.safetensors");
    convert_checkpoint(scratch / "addp.safetensors", scratch / "addp.pth");
    job("addp.safetensors");
    job("addp.pth");
  }
  ASSERT_TRUE(testing::run_reference(arguments));
  for (const char* name : {"a.pth", "top.pth", "a.safetensors"}) {
    SCOPED_TRACE(name);
    testing::expect_same_tensors(tensors, (scratch / name).string() + ".out");
  }
  const auto python = Json::parse(read_text_file((scratch / "a.pth").string() + ".out.json"));
  EXPECT_EQ(python["root"], "model");
  EXPECT_EQ(python["extra"], metadata);
  if (folders.empty()) return;
  const Checkpoint published = open_checkpoint(folders[0] / "addp.pth");
  for (const char* name : {"addp.safetensors", "addp.pth"}) {
    testing::expect_same_tensors(published.tensors, (scratch / name).string() + ".out");
  }
}

TEST(Convert, ModelsOfASetShareTheirTokenizer) {
  const TemporaryFolder scratch;
  const auto number = [](float value) {
    Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return make_tensor(DType::kF32, {1}, bytes);
  };
  const auto write = [&](const char* name, const char* kind, const TensorMap& tensors) {
    OwnMetadata own;
    own.kind = kind;
    own.config = Json::object();
    write_safetensors(scratch.path() / name, tensors, to_safetensors_metadata(own));
  };
  write("whole.safetensors", "addp", {{"vqgan.codes", number(0.1F)}, {"width", number(2)}});
  write("tokenizer.safetensors", "tokenizer", {{"codes", number(0.1F)}});
  const auto out = scratch.path() / "addp.safetensors";
  const ConversionOptions options{.floating = DType::kF16, .version = "1", .share_tokenizer = true};
  convert_checkpoint(scratch.path() / "whole.safetensors", out, options);
  const Checkpoint shared = open_checkpoint(out);
  EXPECT_EQ(shared.tensors.size(), 1U);
  EXPECT_TRUE(shared.tensors.contains("width"));
  const Json config = own_metadata(shared)->config;
  EXPECT_EQ(shared_tokenizer(config, out.string()), scratch.path() / "tokenizer.safetensors");
  EXPECT_TRUE(shared_tokenizer(Json::object(), out.string()).empty());
  EXPECT_THROW(convert_checkpoint(scratch.path() / "whole.safetensors", scratch.path() / "addp.pth",
                                  options),
               UsageError);

  // Another tokenizer is refused, when it is to be shared and when it is to be used; so is none.
  write("tokenizer.safetensors", "tokenizer", {{"codes", number(0.2F)}});
  EXPECT_THROW(convert_checkpoint(scratch.path() / "whole.safetensors", out, options), DataError);
  EXPECT_THROW(shared_tokenizer(config, out.string()), DataError);
  write("tokenizer.safetensors", "tokenizer", {{"codes", number(0.1F)}, {"more", number(1)}});
  EXPECT_THROW(convert_checkpoint(scratch.path() / "whole.safetensors", out, options), DataError);
  std::filesystem::remove(scratch.path() / "tokenizer.safetensors");
  EXPECT_THROW(shared_tokenizer(config, out.string()), DataError);

  // A decoder that learned on makes other pictures of the same tokens, and may have more layers.
  write("whole.safetensors", "addp",
        {{"vqgan.codes", number(0.1F)}, {"vqgan.decoder.a", number(1)}, {"width", number(2)}});
  write("tokenizer.safetensors", "tokenizer",
        {{"codes", number(0.1F)}, {"decoder.a", number(3)}, {"decoder.b", number(4)}});
  convert_checkpoint(scratch.path() / "whole.safetensors", out, options);
  EXPECT_EQ(open_checkpoint(out).tensors.size(), 1U);
}

}  // namespace
}  // namespace addp
