#include "commands/make/inpaint.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/file/sha256.h"
#include "base/json_text.h"
#include "base/log.h"
#include "commands/make/sampling.h"
#include "generate/edit.h"
#include "generate/recipe.h"
#include "nn/torch.h"

namespace addp {
namespace {

// "32" pixels, or "25%" of `whole`.
int amount_of(const std::string& text, int whole) {
  const bool percent = text.ends_with('%');
  const std::string number = percent ? text.substr(0, text.size() - 1) : text;
  double value = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !(value >= 0) ||
      value > 65500) {
    throw UsageError("--outpaint: '{}' is no number of pixels and no percentage", text);
  }
  return static_cast<int>(std::lround(percent ? value / 100 * whole : value));
}

Margins margins_of(const std::vector<std::string>& sides, const Image& picture) {
  Margins margins;
  for (const auto& side : sides) {
    const auto equals = side.find('=');
    const std::string name = side.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : side.substr(equals + 1);
    if (name == "left")
      margins.left = amount_of(value, picture.width);
    else if (name == "right")
      margins.right = amount_of(value, picture.width);
    else if (name == "top")
      margins.top = amount_of(value, picture.height);
    else if (name == "bottom")
      margins.bottom = amount_of(value, picture.height);
    else
      throw UsageError("--outpaint: '{}' is none of left, top, right and bottom", name);
  }
  return margins;
}

Margins uncrop_margins(double factor, const Image& picture) {
  if (factor < 1) throw UsageError("--uncrop {}: give a factor above 1", factor);
  const int width = static_cast<int>(std::lround(picture.width * (factor - 1)));
  const int height = static_cast<int>(std::lround(picture.height * (factor - 1)));
  return {width / 2, height / 2, width - width / 2, height - height / 2};
}

GrayImage load_mask(const std::filesystem::path& path) {
  const Image image = load_image(path);
  GrayImage mask(image.width, image.height);
  std::size_t bright = 0;
  for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
    const std::uint8_t* rgb = image.pixels.data() + 3 * i;
    mask.pixels[i] = std::max({rgb[0], rgb[1], rgb[2]});
    bright += mask.pixels[i] >= kHiddenFrom ? 1 : 0;
  }
  if (bright == 0) warn("{}: is dark everywhere, so that nothing is filled in", path);
  if (bright == mask.pixels.size()) {
    warn("{}: is bright or transparent everywhere, so that all of the picture is replaced", path);
  }
  return mask;
}

EditTask task_of(const InpaintOptions& options) {
  const int chosen = !options.mask.empty() + !options.box.empty() + !options.outpaint.empty() +
                     (options.uncrop > 0);
  if (chosen != 1) {
    throw UsageError("give one of --mask, --box, --outpaint and --uncrop: what is to be filled in");
  }
  const Image picture = load_image(options.image);
  if (!options.mask.empty()) return hide_mask(picture, load_mask(options.mask));
  if (!options.box.empty()) return hide_box(picture, box_of(options.box));
  const Margins margins = options.uncrop > 0 ? uncrop_margins(options.uncrop, picture)
                                             : margins_of(options.outpaint, picture);
  const std::int64_t width = std::int64_t{picture.width} + margins.left + margins.right,
                     height = std::int64_t{picture.height} + margins.top + margins.bottom;
  if (std::max(width, height) > DecodeLimits{}.max_side ||
      width * height > DecodeLimits{}.max_pixels) {
    throw UsageError("the larger picture would have {} x {} pixels; ask for less", width, height);
  }
  return extend(picture, margins);
}

}  // namespace

void run(const InpaintOptions& options, const RunContext& context) {
  check(options.sampler);
  const EditTask task = task_of(options);
  const Generator model = open_generator(options.model);
  if (!model.is_addp()) {
    throw UsageError("{}: a token predictor sees no pixels; give an ADDP model", model.source());
  }
  EditOptions edit;
  edit.generation.seed = static_cast<std::uint64_t>(options.seed);
  edit.generation.count = options.count;
  edit.generation.bf16 = model.for_bf16();
  edit.generation.sampler = options.sampler;
  model.ask_for(options.condition.name, options.condition.guidance, edit.generation);
  model.check(edit.generation.sampler);
  edit.fill = options.fill;
  const EditPlan plan = plan_edit(task, model);
  context.write_configuration(options.out);
  std::vector<Image> variants;
  {
    const std::int64_t batches =
        (options.count + edit.generation.batch - 1) / edit.generation.batch;
    SamplingProgress progress("inpaint", batches * steps_of(plan, edit));
    variants = fill_in(task, model, edit, progress.hooks());
  }
  nlohmann::json files = nlohmann::json::array();
  TextMetadata metadata = picture_metadata(model, edit.generation, 0, context);
  for (const auto& [name, value] : fill_settings(edit.fill)) metadata["addp:" + name] = value;
  metadata["addp:image-sha256"] = FileDigest(options.image).hex();
  std::int64_t number = 0;
  for (const auto& variant : variants) {
    const auto path =
        options.out / fmt::format("{}-{:03d}.png", options.image.stem().string(), number);
    metadata["addp:number"] = fmt::format("{}", number++);
    save_image(path, variant, metadata);
    files.push_back(path.string());
  }
  if (options.preview) {
    save_image(options.out / "preview.png", edit_preview(task, plan));
    files.push_back((options.out / "preview.png").string());
  }
  if (context.json) {
    print_stdout(json_text(nlohmann::json{{"files", files}}, 2) + "\n");
  } else {
    print_stdout(fmt::format("{} variants in {}\n", variants.size(), options.out));
  }
}

}  // namespace addp
