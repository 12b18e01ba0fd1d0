// Filling in a part of a picture: inpainting, outpainting and uncropping, as in the paper's
// appendix. The hidden region is filled with the mean of what is visible, the tokenizer gives the
// tokens, the share of hidden tokens decides at which step alternating denoising begins, and the
// result replaces the hidden pixels. All others stay as they are, bit for bit. Beyond the paper: a
// second pass, and colours that meet those around them; both can be switched off.
//
// The network works on a window at its own resolution: a square around the hidden region of twice
// its longer side, or as much of that square as the picture has, on a grid of its shape.
#pragma once

#include <vector>

#include "generate/generator.h"
#include "image/box.h"
#include "image/image.h"

namespace addp {

struct EditTask {
  Image picture;
  GrayImage hidden;  // of the picture's size; not 0 where it is to be filled in
};

// "left,top,width,height" as people give it; a UsageError where it is not four numbers.
PixelBox box_of(const std::vector<std::int64_t>& numbers);
// A part of the picture to fill in; clipped, and a UsageError where nothing is left.
EditTask hide_box(const Image& picture, const PixelBox& box);
// A mask picture of any size, resized; values from kHiddenFrom hide.
inline constexpr std::uint8_t kHiddenFrom = 128;
EditTask hide_mask(const Image& picture, const GrayImage& mask);
struct Margins {
  int left = 0, top = 0, right = 0, bottom = 0;
};
// A larger canvas, the new part of which is hidden and, until it is filled in, continues the
// picture's outermost pixels.
EditTask extend(const Image& picture, const Margins& margins);

// What the network will see.
struct EditPlan {
  PixelBox window;  // of the picture
  Grid grid;        // of tokens over the window
  Image filled;     // the window at the network's resolution, hidden pixels filled
  Tensor hidden;    // [h * w] bool, the tokens that are hidden wholly or in part
};
EditPlan plan_edit(const EditTask& task, const Generator& model);

struct EditOptions {
  GenerationPlan generation;  // `count` variants
  // Passes: the visible tokens next to the hidden region are encoded together with what stands in
  // for it; a second pass encodes them with the first result there, in place of the mean colour.
  // Match: colours of the result meet those around it (seam.h). Feather: it fades in over so many
  // pixels inside the hidden region.
  FillOptions fill{};
};

// The denoising steps of a batch of variants, over all passes.
std::int64_t steps_of(const EditPlan& plan, const EditOptions& options);

// `count` variants of the picture. With nothing hidden, the picture itself. Callbacks see the steps
// of all passes as one run of steps_of() steps.
std::vector<Image> fill_in(const EditTask& task, const Generator& model, const EditOptions& options,
                           const SamplerHooks& hooks = {});

// The picture with its hidden pixels tinted, and the window with its hidden tokens tinted.
Image edit_preview(const EditTask& task, const EditPlan& plan);

}  // namespace addp
