#include "checkpoint/pickle/pickle.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace addp {
namespace {

using Kind = PickleValue::Kind;

std::unique_ptr<Pickle> parse(const std::string& text) {
  return parse_pickle(ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                      "p.pkl");
}

nlohmann::json json_of(const std::string& text) {
  const auto pickle = parse(text);
  PickleBudget budget;
  return pickle_to_json(*pickle, *pickle->root, budget);
}

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find("p.pkl: "), 0u) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

std::string with_nul(const char* text, std::size_t size) { return {text, size}; }
#define RAW(text) with_nul(text, sizeof(text) - 1)

TEST(Pickle, OldSpellings) {
  // pickle.dumps([1, -2, 10**12, 1.5, True, None, 'a\n', (1, 2), {'k': b'...'}], 0)
  EXPECT_EQ(
      json_of("(lp0\nI1\naI-2\naL1000000000000L\naF1.5\naI01\naNaVa\\u000a\np1\na(I1\nI2\ntp2\na."),
      (nlohmann::json{1, -2, 1000000000000, 1.5, true, nullptr, "a\n", {1, 2}}));
  EXPECT_EQ(json_of("(dp0\nS'k'\nS\"v\\x41\"\ns."), (nlohmann::json{{"k", "vA"}}));
  // copy_reg._reconstructor(argparse.Namespace, object, None), attributes by BUILD
  EXPECT_EQ(
      json_of(
          "ccopy_reg\n_reconstructor\n(cargparse\nNamespace\nc__builtin__\nobject\nNtR(dS'lr'\nF0.5\nsb."),
      (nlohmann::json{{"lr", 0.5}}));
}

TEST(Pickle, IntegersOfAllSizes) {
  EXPECT_EQ(json_of(RAW("\x80\x02\x8a\x02\xff\x7f.")), 32767);
  EXPECT_EQ(json_of(RAW("\x80\x02\x8a\x01\xff.")), -1);
  EXPECT_EQ(json_of(RAW("\x80\x02\x8a\x00.")), 0);
  EXPECT_EQ(json_of(RAW("\x80\x02J\xfe\xff\xff\xff.")), -2);
  EXPECT_TRUE(
      parse(RAW("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."))->root->is(Kind::kBigInt));
}

TEST(Pickle, NothingIsExecutedAndAttacksAreNamed) {
  EXPECT_NE(refusal("cos\nsystem\n(S'true'\ntR.").find("os.system"), std::string::npos);
  EXPECT_NE(refusal("cposix\nsystem\n(S'true'\ntR.").find("nothing was executed"),
            std::string::npos);
  refusal("(S'x'\nibuiltins\neval\n.");
  refusal(RAW("\x80\x04\x8c\x0asubprocess\x8c\x05Popen\x93."));
  refusal("cimportlib.util\nfind_spec\n.");
  const auto unknown = parse("csome.module\nThing\n(I1\ntR(dS'a'\nI2\nsb.");
  EXPECT_EQ(unknown->root->kind, Kind::kObject);
  EXPECT_EQ(unknown->root->text, "some.module.Thing");
  EXPECT_EQ(unknown->root->state->find("a")->integer, 2);
  EXPECT_EQ(unknown->foreign, std::set<std::string>{"some.module.Thing"});
}

TEST(Pickle, CirclesEndAndAreFreed) {
  EXPECT_TRUE(json_of("(lp0\ng0\na.").is_array());
  EXPECT_TRUE(json_of("(dp0\nS'me'\ng0\ns.").is_object());
  const auto pickle = parse("(lp0\ng0\na.");
  PickleBudget budget;
  EXPECT_EQ(count_tensors(*pickle->root, budget), 0u);
  // A tensor subclass whose arguments are a list with that list inside.
  EXPECT_EQ(
      parse("ctorch._tensor\n_rebuild_from_type_v2\np0\n0]p1\n(g0\nNg1\nNe0g0\n(g0\nNg1\nNtR.")
          ->root->kind,
      Kind::kObject);
}

TEST(Pickle, ThousandLaughs) {
  // Each list holds the one before twenty times: 20^30 values if written out.
  std::string text = "(lp0\n";
  for (int i = 0; i < 30; ++i) {
    text += "0(";
    for (int k = 0; k < 20; ++k) text += "g" + std::to_string(i) + "\n";
    text += "lp" + std::to_string(i + 1) + "\n";
  }
  EXPECT_LT(json_of(text + ".").dump().size(), std::size_t{8} << 20);
  EXPECT_LT(json_of(std::string(200'000, ']') + std::string(199'999, 'a') + ".").dump().size(),
            2000u);
}

TEST(Pickle, KeysOfKeysStayShort) {
  EXPECT_EQ(json_of("(d(I1\nI2\ntI3\ns."), (nlohmann::json{{"[1,2]", 3}}));
  std::string nested = "I1\n";
  for (int i = 0; i < 24; ++i) nested = "(d" + nested + "I1\ns";
  EXPECT_LT(json_of(nested + ".").dump().size(), std::size_t{4} << 20);
}

TEST(Pickle, BrokenPrograms) {
  refusal("");
  refusal(".");
  refusal("a.");
  refusal("t.");
  refusal("(.");
  refusal("g7\n.");
  refusal("I12x\n.");
  refusal("NNs.");
  refusal("(NNNd.");
  refusal("]Nu.");
  refusal("NNR.");
  refusal("NQN");
  refusal(RAW("\x80\x09N."));
  refusal(RAW("\x82\x01."));
  refusal(
      RAW("X\xff\xff\xff\xff"
          "abc."));
  refusal(
      RAW("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
          "abc."));
}

// A tensor over a storage of 10 floats.
std::string tensor(const std::string& offset, const std::string& shape,
                   const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((S'storage'\nctorch\nFloatStorage\nS'0'\nS'cpu'\nI10\ntQI" +
         offset + "\n(" + shape + "t(" + strides + "tI00\nNtR.";
}

TEST(Pickle, TensorsStayInsideTheirStorage) {
  const auto pickle = parse(tensor("1", "I3\nI3\n", "I3\nI1\n"));
  ASSERT_EQ(pickle->root->kind, Kind::kTensor);
  EXPECT_THROW(pickle->bind_storages([](PickleStorage&) {}), DataError);
  const Bytes data(40, 9);
  pickle->bind_storages([&](PickleStorage& storage) { storage.bytes = data; });
  EXPECT_EQ(pickle->tensor(*pickle->root).bytes.data(), data.data() + 4);
  EXPECT_NO_THROW(parse(tensor("10", "I0\nI3\n", "I3\nI1\n")));
  refusal(tensor("2", "I3\nI3\n", "I3\nI1\n"));
  refusal(tensor("-1", "I3\n", "I1\n"));
  refusal(tensor("11", "I0\n", "I1\n"));
  refusal(tensor("0", "I3\n", "I-1\n"));
  refusal(tensor("0", "I-3\n", "I1\n"));
  refusal(tensor("0", "I3\n", "I1\nI1\n"));
  refusal(tensor("0", "I4611686018427387904\nI4\n", "I0\nI0\n"));
  refusal(tensor("0", "I3\n", "I9223372036854775807\n"));
  refusal(tensor("9223372036854775807", "I3\n", "I1\n"));
  refusal(tensor("0", "I1099511627776\n", "I0\n"));  // repeats one element without end
  std::string many;
  for (int i = 0; i < 65; ++i) many += "I1\n";
  refusal(tensor("0", many, many));
}

}  // namespace
}  // namespace addp
