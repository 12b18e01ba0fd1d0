#include "generate/edit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "generate/seam.h"
#include "image/draw/draw.h"
#include "image/resize/resize.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr Color kTint{220, 40, 60};
constexpr std::int64_t kLongestGrid = 4;  // times the network's own side

bool is_hidden(const GrayImage& mask, int x, int y) { return mask.row(y)[x] != 0; }

// The smallest box around the hidden pixels; empty where there are none.
PixelBox hidden_box(const GrayImage& mask) {
  int left = mask.width, top = mask.height, right = 0, bottom = 0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!is_hidden(mask, x, y)) continue;
      left = std::min(left, x);
      right = std::max(right, x + 1);
      top = std::min(top, y);
      bottom = std::max(bottom, y + 1);
    }
  }
  if (right <= left) return {};
  return {left, top, right - left, bottom - top};
}

// Where a stretch of `length` that has [begin, begin + inner) in its middle lies within [0, whole).
int place(int begin, int inner, int length, int whole) {
  return std::clamp(begin - (length - inner) / 2, 0, whole - length);
}

PixelBox choose_window(const EditTask& task, int side) {
  const PixelBox box = hidden_box(task.hidden);
  const int width = task.picture.width, height = task.picture.height;
  const int length = std::max(2 * std::max(box.width, box.height), side);
  const int across = std::min(length, width), down = std::min(length, height);
  return {place(box.left, box.width, across, width), place(box.top, box.height, down, height),
          across, down};
}

// The network's own grid for a square; else its shorter side keeps the network's number of tokens.
Grid choose_grid(const PixelBox& window, const Grid& own) {
  if (window.width == window.height) return own;
  const double ratio =
      double(std::max(window.width, window.height)) / double(std::min(window.width, window.height));
  const std::int64_t side = std::min(own.width, own.height);
  const std::int64_t longer =
      std::min<std::int64_t>(kLongestGrid * side, std::llround(double(side) * ratio));
  return window.width > window.height ? Grid{side, longer} : Grid{longer, side};
}

// The mean colour of the visible pixels; grey where there are none.
Color visible_mean(const Image& picture, const GrayImage& hidden) {
  std::array<double, 3> sum{};
  double count = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (is_hidden(hidden, x, y)) continue;
      for (int c = 0; c < 3; ++c) sum[std::size_t(c)] += picture.at(x, y)[c];
      ++count;
    }
  }
  if (count == 0) return {128, 128, 128};
  const auto mean = [&](std::size_t c) { return std::uint8_t(std::lround(sum[c] / count)); };
  return {mean(0), mean(1), mean(2)};
}

// Tokens with any hidden pixel in them. Cells are cut in window pixels, so that none is missed
// however the window is resized.
Tensor hidden_tokens(const GrayImage& hidden, const Grid& grid) {
  Tensor cells = torch::zeros({grid.height, grid.width}, torch::kBool);
  auto flags = cells.accessor<bool, 2>();
  for (int y = 0; y < hidden.height; ++y) {
    for (int x = 0; x < hidden.width; ++x) {
      if (!is_hidden(hidden, x, y)) continue;
      const std::int64_t top = y * grid.height / hidden.height,
                         bottom = ((y + 1) * grid.height - 1) / hidden.height;
      const std::int64_t left = x * grid.width / hidden.width,
                         right = ((x + 1) * grid.width - 1) / hidden.width;
      for (std::int64_t i = top; i <= bottom; ++i) {
        for (std::int64_t j = left; j <= right; ++j) flags[i][j] = true;
      }
    }
  }
  return cells.flatten();
}

// What the network makes of windows whose hidden pixels hold a first guess.
std::vector<Image> complete_once(const std::vector<Image>& filled, const EditPlan& plan,
                                 const Generator& model, const std::vector<std::uint64_t>& numbers,
                                 const GenerationPlan& wanted, const SamplerHooks& hooks) {
  const Tensor pixels = to_tensor(filled).to(compute_device());
  const Tensor masked = plan.hidden.to(compute_device()).unsqueeze(0);
  const SamplerStart start{.tokens = model.tokenizer().encode(pixels),
                           .masked = masked.expand({pixels.size(0), -1}),
                           .grid = plan.grid,
                           .pixels = pixels};
  return to_images(model.complete(start, numbers, wanted, hooks).pixels);
}

// What the network made, back in the window and in the picture.
class Patch {
 public:
  Patch(const EditTask& task, const EditPlan& plan, const FillOptions& options)
      : task_(task),
        plan_(plan),
        inside_(crop(task.picture, plan.window)),
        hidden_(crop(task.hidden, plan.window)),
        opacity_(depth_of(hidden_, static_cast<int>(options.feather))) {
    if (!options.match) return;
    const std::int64_t token =
        std::min(plan.window.width / plan.grid.width, plan.window.height / plan.grid.height);
    reach_ = std::max(1, static_cast<int>(token));
  }

  // The window with `made` where it is hidden.
  Image window_with(const Image& made) const {
    Image fitted = resize(made, plan_.window.width, plan_.window.height);
    if (reach_ > 0) match_surroundings(fitted, inside_, hidden_, reach_);
    for (std::size_t i = 0; i < hidden_.pixels.size(); ++i) {
      if (hidden_.pixels[i] != 0) continue;
      std::copy_n(inside_.pixels.begin() + std::ptrdiff_t(3 * i), 3,
                  fitted.pixels.begin() + std::ptrdiff_t(3 * i));
    }
    return fitted;
  }

  // The picture with such a window, which fades in where that is asked for.
  Image picture_with(const Image& window) const {
    Image out = task_.picture;
    for (int y = 0; y < window.height; ++y) {
      for (int x = 0; x < window.width; ++x) {
        if (!is_hidden(hidden_, x, y)) continue;
        const float share = opacity_[std::size_t(y) * std::size_t(window.width) + std::size_t(x)];
        std::uint8_t* to = out.at(plan_.window.left + x, plan_.window.top + y);
        for (int c = 0; c < 3; ++c) {
          const float old = to[c], fresh = window.at(x, y)[c];
          to[c] = std::uint8_t(std::lround(old + (fresh - old) * share));
        }
      }
    }
    return out;
  }

 private:
  const EditTask& task_;
  const EditPlan& plan_;
  Image inside_;
  GrayImage hidden_;
  std::vector<float> opacity_;
  int reach_ = 0;  // of matching colours, in pixels; 0: none
};

// With nothing visible there is nothing that a second pass would understand better.
std::int64_t passes_of(const EditPlan& plan, const EditOptions& options) {
  return plan.hidden.all().item<bool>() ? 1 : options.fill.passes;
}

std::int64_t steps_of_pass(const EditPlan& plan, const EditOptions& options) {
  const SamplerOptions& sampler = options.generation.sampler;
  const auto hidden = plan.hidden.sum().item<std::int64_t>();
  return hidden == 0 ? 0 : sampler.steps - first_step(hidden, plan.hidden.numel(), sampler);
}

// Hooks of one pass, which see its steps as a part of those of all passes.
SamplerHooks hooks_of_pass(const SamplerHooks& hooks, std::int64_t pass, const EditPlan& plan,
                           const EditOptions& options) {
  if (!hooks.on_step) return hooks;
  SamplerHooks counted = hooks;
  const std::int64_t taken = steps_of_pass(plan, options), all = steps_of(plan, options);
  const std::int64_t first = pass * taken - (options.generation.sampler.steps - taken);
  counted.on_step = [&hooks, first, all](const SamplerStep& step) {
    SamplerStep numbered = step;
    numbered.step += first;
    numbered.steps = all;
    hooks.on_step(numbered);
  };
  return counted;
}

}  // namespace

PixelBox box_of(const std::vector<std::int64_t>& numbers) {
  if (numbers.size() != 4) throw UsageError("a box takes four numbers: left,top,width,height");
  const auto at = [&](std::size_t i) {
    return static_cast<int>(std::clamp<std::int64_t>(numbers[i], -1'000'000, 1'000'000));
  };
  return {at(0), at(1), at(2), at(3)};
}

EditTask hide_box(const Image& picture, const PixelBox& box) {
  const int left = std::max(0, box.left), top = std::max(0, box.top);
  const int right = std::min(picture.width, box.right());
  const int bottom = std::min(picture.height, box.bottom());
  if (right <= left || bottom <= top) {
    throw UsageError("the box {},{},{},{} lies outside the picture of {}x{} pixels", box.left,
                     box.top, box.width, box.height, picture.width, picture.height);
  }
  EditTask task{picture, GrayImage(picture.width, picture.height)};
  for (int y = top; y < bottom; ++y) {
    std::fill(task.hidden.row(y) + left, task.hidden.row(y) + right, std::uint8_t{255});
  }
  return task;
}

EditTask hide_mask(const Image& picture, const GrayImage& mask) {
  EditTask task{picture, resize_labels(mask, picture.width, picture.height)};
  for (auto& value : task.hidden.pixels) value = value >= kHiddenFrom ? 255 : 0;
  return task;
}

EditTask extend(const Image& picture, const Margins& margins) {
  const int width = picture.width + margins.left + margins.right;
  const int height = picture.height + margins.top + margins.bottom;
  EditTask task{Image(width, height), GrayImage(width, height)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::uint8_t* nearest = picture.at(std::clamp(x - margins.left, 0, picture.width - 1),
                                               std::clamp(y - margins.top, 0, picture.height - 1));
      std::copy_n(nearest, 3, task.picture.at(x, y));
    }
  }
  std::fill(task.hidden.pixels.begin(), task.hidden.pixels.end(), std::uint8_t{255});
  for (int y = 0; y < picture.height; ++y) {
    std::uint8_t* row = task.hidden.row(margins.top + y) + margins.left;
    std::fill(row, row + picture.width, std::uint8_t{0});
  }
  return task;
}

EditPlan plan_edit(const EditTask& task, const Generator& model) {
  EditPlan plan;
  plan.window = choose_window(task, std::max(model.width(), model.height()));
  plan.grid = choose_grid(plan.window, model.grid());
  Image inside = crop(task.picture, plan.window);
  const GrayImage hidden = crop(task.hidden, plan.window);
  blend_mask(inside, hidden, visible_mean(inside, hidden), 1.0f);
  const int factor = static_cast<int>(model.tokenizer().factor());
  plan.filled = resize(inside, static_cast<int>(plan.grid.width) * factor,
                       static_cast<int>(plan.grid.height) * factor);
  plan.hidden = hidden_tokens(hidden, plan.grid);
  return plan;
}

std::int64_t steps_of(const EditPlan& plan, const EditOptions& options) {
  return passes_of(plan, options) * steps_of_pass(plan, options);
}

std::vector<Image> fill_in(const EditTask& task, const Generator& model, const EditOptions& options,
                           const SamplerHooks& hooks) {
  if (options.fill.passes < 1) throw UsageError("{} passes fill in nothing", options.fill.passes);
  const GenerationPlan& wanted = options.generation;
  if (hidden_box(task.hidden).width == 0) {
    return std::vector<Image>(std::size_t(wanted.count), task.picture);
  }
  torch::NoGradGuard guard;
  const EditPlan plan = plan_edit(task, model);
  const Patch patch(task, plan, options.fill);
  const std::int64_t passes = passes_of(plan, options);
  std::vector<Image> variants;
  for (std::int64_t done = 0; done < wanted.count; done += wanted.batch) {
    const std::int64_t batch = std::min(wanted.batch, wanted.count - done);
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(batch));
    std::iota(numbers.begin(), numbers.end(), static_cast<std::uint64_t>(wanted.first + done));
    std::vector<Image> seen(std::size_t(batch), plan.filled);
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      const std::vector<Image> made = complete_once(seen, plan, model, numbers, wanted,
                                                    hooks_of_pass(hooks, pass, plan, options));
      for (std::size_t i = 0; i < made.size(); ++i) {
        const Image window = patch.window_with(made[i]);
        if (pass + 1 == passes) {
          variants.push_back(patch.picture_with(window));
        } else {
          seen[i] = resize(window, plan.filled.width, plan.filled.height);
        }
      }
    }
  }
  return variants;
}

Image edit_preview(const EditTask& task, const EditPlan& plan) {
  Image shown = task.picture;
  blend_mask(shown, task.hidden, kTint, 0.55f);
  draw_rectangle(shown, plan.window, kWhite);
  Image window = plan.filled;
  const int cell = window.width / static_cast<int>(plan.grid.width);
  const auto flags = plan.hidden.accessor<bool, 1>();
  GrayImage mask(window.width, window.height);
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      mask.row(y)[x] = flags[(y / cell) * plan.grid.width + x / cell] ? 255 : 0;
    }
  }
  blend_mask(window, mask, kTint, 0.55f);
  const std::array<Image, 2> both{
      shown, resize(window, plan.window.width, plan.window.height, Resample::kNearest)};
  return make_grid(both, 2, 4);
}

}  // namespace addp
