// addp inpaint: fill in a part of a picture, or what lies around it.
#pragma once

#include "commands/make/generate.h"

namespace addp {

struct InpaintOptions {
  SamplingModelOptions model;
  ClassOptions condition;
  std::filesystem::path image, mask, out = "inpainted";
  std::vector<std::int64_t> box;
  std::vector<std::string> outpaint;
  double uncrop = 0;
  std::int64_t count = 1, seed = 0, passes = 2, feather = 0;
  bool match = true, preview = false;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.group("What to fill in");
    o.add("image", image, "the picture, of any size; it comes back as 8-bit RGB").required();
    o.add("mask", mask, "a picture of any size, bright or transparent where it is to be filled in");
    o.add("box", box, "a rectangle to fill in: left,top,width,height in pixels").metavar("X,Y,W,H");
    o.add("outpaint", outpaint,
          "pixels, or percent of the picture, to add on each side: "
          "left=..,top=..,right=..,bottom=..")
        .metavar("SIDE=N,..");
    o.add("uncrop", uncrop, "make the picture the middle of one this many times as wide and high")
        .range(0, 16);
    o.group("How, and where to put it");
    model.describe(o, /*predictors=*/false);
    condition.describe(o);
    o.add("out", out, "folder for the pictures");
    o.add("count", count, "variants").alias("n").range(1, 100000);
    o.add("seed", seed, "of the variants").range(0, 9e15);
    o.add(
         "passes", passes,
         "the second pass sees the first result where the first saw a mean colour, so that what is "
         "visible next to it is understood better; 1: as in the paper, in half the time")
        .range(1, 16);
    o.add("match", match,
          "shift colours of the filled part, smoothly, so that they meet those around it");
    o.add("feather", feather,
          "pixels inside the filled part over which it fades in; 0: a hard edge")
        .range(0, 4096);
    o.add("preview", preview,
          "also preview.png: the hidden pixels, and the hidden tokens in the network's window");
    sampler.describe(o);
  }
};

void run(const InpaintOptions& options, const RunContext& context);

}  // namespace addp
