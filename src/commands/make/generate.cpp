#include "commands/make/generate.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "commands/make/sampling.h"
#include "generate/trajectory.h"
#include "image/codec/animation.h"
#include "image/codec/stored_as.h"
#include "image/draw/draw.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

GenerationPlan plan_of(const GenerateOptions& options, const Generator& model) {
  GenerationPlan plan;
  plan.seed = static_cast<std::uint64_t>(options.seed);
  plan.first = options.first;
  plan.count = options.count;
  plan.batch = std::min(options.batch, options.count);
  plan.bf16 = model.for_bf16();
  plan.sampler = options.sampler;
  plan.grid = model.grid_of(options.size);
  model.ask_for(options.condition.name, options.condition.guidance, plan);
  model.check(plan.sampler);
  return plan;
}

// The files of one call, in the order they were written.
class Writer {
 public:
  Writer(const GenerateOptions& options, const Generator& model, const GenerationPlan& plan,
         const RunContext& context)
      : options_(options),
        plan_(plan),
        format_(stored_as(options.format)),
        metadata_(picture_metadata(model, plan, plan.first, context)) {
    make_folder(options.out);
  }

  void add(std::int64_t first, const Tensor& pixels) {
    for (const auto& image : to_images(pixels)) {
      if (options_.grid) {
        sheet_.push_back(image);
      } else {
        metadata_["addp:number"] = fmt::format("{}", first);
        const auto path = name(first, format_.extension());
        write_file_atomically(path, encode_image(image, format_, metadata_));
        files_.push_back(path);
      }
      ++first;
    }
  }

  void add(std::int64_t first, const Trajectory& trajectory, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& frames = trajectory.frames(i);
      metadata_["addp:number"] = fmt::format("{}", first + i);
      save_image(name(first + i, "-steps.png"), trajectory_strip(frames), metadata_);
      write_file_atomically(
          name(first + i, "-steps.webp"),
          encode_webp_animation(trajectory_animation(frames), {.frame_ms = 200, .last_ms = 1500}));
      files_.push_back(name(first + i, "-steps.png"));
      files_.push_back(name(first + i, "-steps.webp"));
    }
  }

  const std::vector<std::filesystem::path>& finish() {
    if (!sheet_.empty()) {
      metadata_["addp:count"] = fmt::format("{}", plan_.count);
      metadata_["addp:number"] = fmt::format("{}", plan_.first);
      save_image(options_.out / "samples.png", make_grid(sheet_), metadata_);
      files_.insert(files_.begin(), options_.out / "samples.png");
    }
    return files_;
  }

 private:
  std::filesystem::path name(std::int64_t number, const std::string& ending) const {
    return options_.out / fmt::format("{:06d}{}", number, ending);
  }

  const GenerateOptions& options_;
  const GenerationPlan& plan_;
  StoredAs format_;
  TextMetadata metadata_;
  std::vector<Image> sheet_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace

void run(const GenerateOptions& options, const RunContext& context) {
  check(options.sampler);
  Generator model = open_generator(options.model);
  model.only_make();
  const GenerationPlan plan = plan_of(options, model);
  Writer writer(options, model, plan, context);
  const std::int64_t batches = (plan.count + plan.batch - 1) / plan.batch;
  std::unique_ptr<Trajectory> trajectory;
  const auto new_trajectory = [&] {
    return std::make_unique<Trajectory>(model.tokenizer(), *plan.grid);
  };
  if (options.trajectory) trajectory = new_trajectory();
  {
    SamplingProgress progress("generate", batches * plan.sampler.steps);
    const SamplerHooks hooks = progress.hooks([&](const SamplerStep& step) {
      if (trajectory) trajectory->add(step);
    });
    model.sample_all(
        plan,
        [&](std::int64_t first, const Tensor& pixels) {
          writer.add(first, pixels);
          if (!trajectory) return;
          writer.add(first, *trajectory, pixels.size(0));
          trajectory = new_trajectory();
        },
        hooks);
  }
  const auto& files = writer.finish();
  const std::int64_t width = plan.grid->width * model.tokenizer().factor(),
                     height = plan.grid->height * model.tokenizer().factor();
  context.write_configuration(options.out);
  if (context.json) {
    nlohmann::json json = {{"model", model.source()},
                           {"width", width},
                           {"height", height},
                           {"files", nlohmann::json::array()}};
    for (const auto& file : files) json["files"].push_back(file.string());
    print_stdout(json_text(json, 2) + "\n");
  } else {
    print_stdout(
        fmt::format("{} pictures of {}x{} pixels in {}\n", plan.count, width, height, options.out));
  }
}

}  // namespace addp
