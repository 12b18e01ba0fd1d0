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
  std::int64_t count = 1, seed = 0;
  FillOptions fill;
  bool preview = false;
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
    fill.describe(o);
    o.add("preview", preview,
          "also preview.png: the hidden pixels, and the hidden tokens in the network's window");
    sampler.describe(o);
  }
};

void run(const InpaintOptions& options, const RunContext& context);

}  // namespace addp
