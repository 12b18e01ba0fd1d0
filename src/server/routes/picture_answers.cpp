#include "server/routes/picture_answers.h"

#include "base/file/base64.h"
#include "base/run/subprocess.h"
#include "image/codec/codec.h"
#include "nn/torch.h"

namespace addp {
namespace {

// How the same picture is made on the command line; what was edited is not named there.
std::string command_line(const HostedModel& model, const GenerationPlan& plan, std::int64_t number,
                         const MadeBy& by) {
  std::vector<std::string> words = {"addp", by.command, "--model", model.path.string()};
  const auto add = [&](const std::string& name, const std::string& value) {
    words.push_back("--" + name);
    words.push_back(value);
  };
  add("seed", fmt::format("{}", plan.seed));
  if (by.command == std::string("generate")) add("first", fmt::format("{}", number));
  if (plan.label >= 0) {
    add("class", model.generator->class_names()[static_cast<std::size_t>(plan.label)]);
    add("guidance", fmt::format("{}", plan.sampler.guidance));
  }
  for (const auto& [name, value] : sampler_settings(plan.sampler)) {
    if (value == "true") words.push_back("--" + name);
    if (value != "true" && value != "false") add(name, value);
  }
  for (const auto& [name, value] : by.settings) {
    const bool flag = value == "true" || value == "false";
    if (flag) words.push_back((value == "true" ? "--" : "--no-") + name);
    if (!flag) add(name, value);
  }
  return shell_line(words);
}

}  // namespace

std::string picture_png(const HostedModel& model, const GenerationPlan& plan, std::int64_t number,
                        const Image& image, const MadeBy& by) {
  TextMetadata text = picture_recipe(*model.generator, plan, number);
  text["addp:command"] = command_line(model, plan, number, by);
  for (const auto& [name, value] : by.settings) text["addp:" + name] = value;
  text["addp:served-as"] = model.name;
  return base64(encode_png(image, text));
}

nlohmann::json picture_json(const HostedModel& model, const GenerationPlan& plan,
                            const MadePicture& made, const MadeBy& by) {
  const std::int64_t number = plan.first + made.picture;
  nlohmann::json json = {{"picture", made.picture},
                         {"seed", plan.seed},
                         {"number", number},
                         {"class", nullptr},
                         {"width", made.image.width},
                         {"height", made.image.height},
                         {"png", picture_png(model, plan, number, made.image, by)}};
  if (plan.label >= 0) {
    json["class"] = model.generator->class_names()[static_cast<std::size_t>(plan.label)];
  }
  return json;
}

nlohmann::json step_json(const StepView& step) {
  std::string reliable;
  for (const std::uint8_t flag : step.reliable) reliable += flag != 0 ? '1' : '0';
  nlohmann::json json = {{"picture", step.picture}, {"step", step.step},    {"steps", step.steps},
                         {"tokens", step.tokens},   {"reliable", reliable}, {"image", nullptr}};
  if (!step.pixels.empty()) json["image"] = jpeg_address(step.pixels);
  return json;
}

std::string jpeg_address(const Image& image) {
  return "data:image/jpeg;base64," + base64(encode_jpeg(image, 92));
}

}  // namespace addp
