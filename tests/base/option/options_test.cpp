#include "base/option/options.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/option/toml_settings.h"
#include "support/message_of.h"

namespace addp {
namespace {

enum class Schedule { kCosine, kLinear };

struct Sample {
  std::int64_t steps = 20;
  double temperature = 6;
  bool grid = false;
  std::string name = "a \"b\"\n";
  std::filesystem::path out = "out";
  std::vector<std::int64_t> sizes{1, 2};
  Schedule schedule = Schedule::kCosine;

  void describe(Options& o) {
    o.add("steps", steps, "denoising steps").range(1, 100).alias("n");
    o.add("temperature", temperature, "of the confidence noise");
    o.group("Output");
    o.add("grid", grid, "one picture with all samples");
    o.add("name", name, "a text");
    o.add("out", out, "folder");
    o.add("encoder-sizes", sizes, "a list");
    o.add_enum<Schedule>("schedule", schedule,
                         {{"cosine", Schedule::kCosine}, {"linear", Schedule::kLinear}},
                         "of masks");
  }
};

// The message of the error that `action` throws.
using testing::message_of;

TEST(Options, AdvancedIsMarkedPerOptionOrGroup) {
  std::int64_t value = 0;
  Options options;
  options.add("plain", value, "");
  options.add("marked", value, "").advanced();
  options.advanced_group("Details");
  options.add("hidden", value, "");
  options.add("shown", value, "").common();
  options.add("needed", value, "").required();  // help must name what must be given
  options.add("bare", value, "").positional();
  options.group("More");
  options.add("after", value, "");
  std::vector<std::string> advanced;
  for (const Option& option : options.all()) {
    if (option.is_advanced()) advanced.push_back(option.name());
  }
  EXPECT_EQ(advanced, (std::vector<std::string>{"marked", "hidden"}));
}

void set_all(Options& options, const std::vector<std::pair<const char*, const char*>>& texts) {
  for (const auto& [name, text] : texts) options.get(name).set(text);
}

TEST(Options, SetFromText) {
  Sample sample;
  Options options;
  sample.describe(options);
  set_all(options, {{"steps", "7"},
                    {"n", "8"},
                    {"temperature", "2.5"},
                    {"encoder_sizes", "3,4,5"},
                    {"schedule", "linear"}});
  options.resolve();
  EXPECT_EQ(sample.steps, 8);
  EXPECT_EQ(sample.temperature, 2.5);
  EXPECT_EQ(sample.sizes, (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(sample.schedule, Schedule::kLinear);
  EXPECT_EQ(options.get("steps").default_text(), "20");
}

TEST(Options, RefusesAndSuggests) {
  Sample sample;
  Options options;
  sample.describe(options);
  EXPECT_EQ(message_of<UsageError>([&] { options.get("steps").set("ten"); }),
            "--steps: 'ten' is not a whole number");
  EXPECT_EQ(message_of<UsageError>([&] { options.get("steps").set("101"); }),
            "--steps: 101 is outside 1 to 100");
  EXPECT_EQ(message_of<UsageError>([&] { options.get("schedule").set("cosin"); }),
            "--schedule: 'cosin' is not one of cosine, linear; did you mean 'cosine'?");
  EXPECT_EQ(message_of<UsageError>([&] { options.get("tempreature"); }),
            "there is no option 'tempreature'; did you mean 'temperature'?; --help lists them");
  EXPECT_THROW(options.get("temperature").set("nan"), UsageError);
}

TEST(Options, TomlRoundTrip) {
  Sample first;
  Options from;
  first.describe(from);
  set_all(from, {{"temperature", "0.1"}, {"schedule", "linear"}, {"grid", "true"}});
  Sample second;
  Options to;
  second.describe(to);
  to.load_toml_text(from.to_toml(), "resolved.toml");
  to.resolve();
  EXPECT_EQ(to.to_toml(), from.to_toml());
  EXPECT_EQ(second.name, first.name);
  EXPECT_EQ(second.schedule, Schedule::kLinear);
}

TEST(Options, LettersBeyondAsciiBelongInCommentsAndStrings) {
  Sample sample;
  Options options;
  sample.describe(options);
  options.load_toml_text("# Zürich \"\nname = \"b\" # ɷ\n", "a.toml");
  EXPECT_EQ(sample.name, "b");
  options.load_toml_text("name = \"Zürich \\\" ɷ\"\n", "a.toml");
  EXPECT_EQ(sample.name, "Zürich \" ɷ");
  options.load_toml_text(
      "\xEF\xBB\xBF"
      "name = \"ü\\\\\"",
      "a.toml");  // a byte order mark
  EXPECT_EQ(sample.name, "ü\\");
  for (const char* text : {"ɷ", "name = 'ɷ'", "rate = 1'\xEF\xBB\xBB", "name = ɷ", "name = \"b\"ɷ",
                           "name = \"\"\"\\\nɷ\"\"\""}) {
    EXPECT_THROW(options.load_toml_text(text, "a.toml"), DataError) << text;
  }
}

TEST(Options, TomlTablesAndErrors) {
  Sample sample;
  Options options;
  sample.describe(options);
  options.load_toml_text("steps = 3\n[encoder]\nsizes = [9, 8]\n", "a.toml");
  EXPECT_EQ(sample.sizes, (std::vector<std::int64_t>{9, 8}));
  EXPECT_EQ(message_of<DataError>([&] { options.load_toml_text("a = 1\nstpes = 3\n", "b.toml"); }),
            "b.toml:1: there is no option 'a'; --help lists them");
  EXPECT_EQ(message_of<DataError>([&] { options.load_toml_text("\nsteps = \"x\"\n", "c.toml"); }),
            "c.toml:2: --steps: 'x' is not a whole number");
  EXPECT_NE(message_of<DataError>([&] {
              options.load_toml_text("steps = = 3\n", "d.toml");
            }).find("d.toml:1: is not valid TOML"),
            std::string::npos);
}

TEST(Options, NearestName) {
  const std::vector<std::string> names{"generate", "inpaint", "train"};
  EXPECT_EQ(nearest_name("genreate", names), "generate");
  EXPECT_EQ(nearest_name("trian", names), "train");
  EXPECT_EQ(nearest_name("xyzzy", names), std::nullopt);
}

TEST(Options, SettingsOfATomlText) {
  const auto settings = toml_settings(
      "# head\nname = \"a = b  # c\"\nsizes = [1, 2]  # help = text\n[encoder]\nwidth = 3\n", "t");
  const std::map<std::string, std::string> expected = {
      {"name", "a = b  # c"}, {"sizes", "[1, 2]"}, {"encoder-width", "3"}};
  EXPECT_EQ(settings, expected);
  EXPECT_THROW(toml_settings("a = ", "t"), DataError);
}

TEST(Options, KeysOfThousandsOfPartsAreRefused) {
  Sample sample;
  Options options;
  sample.describe(options);
  std::string key = "a";
  for (int i = 0; i < 30'000; ++i) key += ".a";
  for (const std::string& text : {key + " = 1\n", "[" + key + "]\nsteps = 1\n"}) {
    EXPECT_NE(message_of<DataError>([&] {
                options.load_toml_text(text, "deep.toml");
              }).find("deep.toml:1"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace addp
