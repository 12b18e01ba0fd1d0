#include "server/routes/sampling_requests.h"

#include <algorithm>

#include "image/resize/resize.h"
#include "nn/torch.h"
#include "server/http/http_error.h"

namespace addp {
namespace {

Margins margins_of(const EditRequest& request, const Image& picture) {
  const Margins margins{static_cast<int>(request.left), static_cast<int>(request.top),
                        static_cast<int>(request.right), static_cast<int>(request.bottom)};
  const std::int64_t pixels = (std::int64_t{picture.width} + margins.left + margins.right) *
                              (std::int64_t{picture.height} + margins.top + margins.bottom);
  if (pixels > RequestLimits::kCanvasPixels) {
    throw HttpError(413, "the picture would have {} pixels; {} can be edited at once", pixels,
                    RequestLimits::kCanvasPixels);
  }
  return margins;
}

Grid grid_of(const std::string& size, const Generator& generator) {
  const Grid grid = generator.grid_of(size);
  const std::int64_t most = std::max(RequestLimits::kTokens, generator.grid().area());
  if (grid.area() > most) {
    throw HttpError(400,
                    "size '{}': {} tokens of {} pixels are more than the {} that a picture may "
                    "have; this model was trained for {}x{}",
                    size, grid.area(), generator.tokenizer().factor(), most, generator.width(),
                    generator.height());
  }
  return grid;
}

}  // namespace

const HostedModel& find_maker(const ServiceContext& context, const std::string& name) {
  return context.shelf.find(
      name, [](const HostedModel& m) { return m.makes(); }, "make pictures");
}

const HostedModel& find_editor(const ServiceContext& context, const std::string& name) {
  return context.shelf.find(
      name, [](const HostedModel& m) { return m.edits(); }, "edit pictures");
}

GenerationPlan plan_of(const MakeRequest& request, const HostedModel& model) {
  GenerationPlan plan;
  plan.seed = static_cast<std::uint64_t>(request.seed);
  plan.first = request.first;
  plan.count = request.count;
  plan.bf16 = model.generator->for_bf16();
  plan.sampler = request.sampler;
  plan.grid = grid_of(request.size, *model.generator);
  model.generator->check(plan.sampler);
  model.generator->ask_for(request.class_name, request.sampler.guidance, plan);
  return plan;
}

EditOptions options_of(const EditRequest& request, const HostedModel& model) {
  EditOptions options;
  options.generation.seed = static_cast<std::uint64_t>(request.seed);
  options.generation.count = options.generation.batch = request.count;
  options.generation.bf16 = model.generator->for_bf16();
  options.generation.sampler = request.sampler;
  options.fill = request.fill;
  model.generator->check(options.generation.sampler);
  model.generator->ask_for(request.class_name, request.sampler.guidance, options.generation);
  return options;
}

EditTask task_of(const EditRequest& request, const Image& picture,
                 const std::optional<GrayImage>& mask) {
  const Margins margins = margins_of(request, picture);
  const bool extends = std::max({margins.left, margins.top, margins.right, margins.bottom}) > 0;
  if (!mask && request.box.empty() && !extends) {
    throw HttpError(400, "nothing is to be filled in: send a mask, a box or margins");
  }
  if (mask && !request.box.empty()) throw HttpError(400, "send a mask or a box, not both");
  EditTask task{picture, GrayImage(picture.width, picture.height)};
  if (mask) task = hide_mask(picture, *mask);
  if (!request.box.empty()) task = hide_box(picture, box_of(request.box));
  if (!extends) return task;
  EditTask larger = extend(picture, margins);
  for (int y = 0; y < picture.height; ++y) {
    std::copy(task.hidden.row(y), task.hidden.row(y) + picture.width,
              larger.hidden.row(margins.top + y) + margins.left);
  }
  return larger;
}

}  // namespace addp
