// What the native routes are asked for. Free of libtorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "generate/options.h"

namespace addp {

struct RequestLimits {
  static constexpr std::int64_t kPictures = 64;  // per request
  static constexpr std::int64_t kSteps = 256;
  static constexpr std::int64_t kTokens = 1024;  // of a picture, unless the model's own have more
  static constexpr std::int64_t kVariants = 16;
  static constexpr std::int64_t kMegapixels = 64;                       // of a picture that is sent
  static constexpr std::int64_t kCanvasPixels = std::int64_t{1} << 24;  // of one that is edited
};

// The sampler's options with the bounds of a service.
inline void describe_sampling(Options& o, SamplerOptions& sampler) {
  sampler.describe(o);
  o.get("steps").range(1, static_cast<double>(RequestLimits::kSteps));
  o.add("guidance", sampler.guidance, "how strongly the class counts; 1: as learned").range(0, 100);
}

struct MakeRequest {
  std::string model, class_name, size;
  std::int64_t seed = 0, first = 0, count = 1;
  bool stream = false;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.add("model", model, "which of the server's models; empty: the first that makes pictures");
    o.add("class", class_name, "name or number of a class; empty: any picture");
    o.add("size", size, "pixels of the pictures, any multiples of a token's; empty: as trained")
        .metavar("WxH");
    o.add("seed", seed, "the same seed gives the same pictures").range(0, 9e15);
    o.add("first", first, "number of the first picture of the seed").range(0, 9e15);
    o.add("count", count, "how many pictures")
        .alias("n")
        .range(1, static_cast<double>(RequestLimits::kPictures));
    o.add("stream", stream, "server-sent events: every step and picture as it comes");
    describe_sampling(o, sampler);
  }
};

struct EditRequest {
  std::string model, class_name;
  std::int64_t seed = 0, count = 1;
  std::vector<std::int64_t> box;
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
  bool stream = false;
  FillOptions fill;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.add("model", model, "which of the server's models; empty: the first that edits pictures");
    o.add("class", class_name, "name or number of a class; empty: whatever fits");
    o.add("box", box, "a rectangle to fill in: left,top,width,height in pixels");
    o.add("left", left, "pixels to add on the left").range(0, 8192);
    o.add("top", top, "pixels to add above").range(0, 8192);
    o.add("right", right, "pixels to add on the right").range(0, 8192);
    o.add("bottom", bottom, "pixels to add below").range(0, 8192);
    fill.describe(o);
    o.add("seed", seed, "the same seed gives the same variants").range(0, 9e15);
    o.add("count", count, "how many, side by side")
        .alias("n")
        .range(1, static_cast<double>(RequestLimits::kVariants));
    o.add("stream", stream, "server-sent events: every step and picture as it comes");
    describe_sampling(o, sampler);
  }
};

struct ClassifyRequest {
  std::string model;
  std::int64_t top = 5;

  void describe(Options& o) {
    o.add("model", model, "which of the server's models; empty: the first classifier");
    o.add("top", top, "how many classes to name").range(1, 1000);
  }
};

struct DetectRequest {
  std::string model;
  double score = 0.05, nms = 0.5;
  std::int64_t count = 100, views = 1;

  void describe(Options& o) {
    o.add("model", model, "which of the server's models; empty: the first detector");
    o.add("score", score, "what is less certain is not listed").range(0, 1);
    o.add("nms", nms, "largest IoU of two detections of one class").range(0, 1);
    o.add("count", count, "detections, at most").range(1, 1000);
    o.add("views", views, "of the picture and its mirror images; kept is what they agree on")
        .range(1, 4);
  }
};

struct SegmentRequest {
  std::string model;

  void describe(Options& o) {
    o.add("model", model, "which of the server's models; empty: the first segmenter");
  }
};

struct FeaturesRequest {
  std::string model;

  void describe(Options& o) {
    o.add("model", model, "whose encoder; empty: the first of the server's models");
  }
};

struct NeighboursRequest {
  std::string model;
  std::int64_t count = 8;

  void describe(Options& o) {
    o.add("model", model, "whose encoder; empty: the first of the server's models");
    o.add("count", count, "how many pictures to show").range(1, 64);
  }
};

}  // namespace addp
