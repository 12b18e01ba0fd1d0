// addp bench images: pictures per second through decode, random-resized-crop and flip,
// the loader's path.
#pragma once

#include <string>
#include <vector>

#include "base/file/file_io.h"
#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct BenchImagesOptions {
  std::string data;
  std::int64_t threads = 0;
  double seconds = 5;
  std::int64_t size = 224;
  double min_area = 0.2;
  std::string filter = "bicubic";
  std::string python;
  std::string reference = "bench/images_reference.py";

  void describe(Options& o) {
    o.add("data", data, "folder, archive or list of pictures; without it, 64 pictures made here")
        .positional()
        .metavar("PATH");
    o.add("threads", threads, "threads that decode; 0: one per core").range(0, 1024);
    o.add("seconds", seconds, "how long to measure").range(0.1, 3600);
    o.add("size", size, "side of the result").range(1, 4096);
    o.add("min-area", min_area, "smallest share of the picture that a crop takes").range(0.001, 1);
    o.add("filter", filter, "how to resize").choices({"bicubic", "bilinear"});
    o.add("python", python, "a Python with Pillow: measure the same work there and compare")
        .metavar("PROGRAM");
    o.add("reference", reference, "the program that Python runs").metavar("FILE");
  }
};

struct BenchImagesResult {
  std::int64_t files = 0;     // different pictures
  std::int64_t pictures = 0;  // gone through the path
  std::int64_t threads = 0;
  double seconds = 0;
  double pictures_per_second = 0;
  double decoded_megapixels_per_second = 0;  // of the whole pictures
  double reference_per_second = 0;           // Pillow's best variant; 0: not measured
  std::string reference_variant;
};

// Each picture is a whole encoded file.
BenchImagesResult measure_images(const std::vector<Bytes>& files,
                                 const BenchImagesOptions& options);
BenchImagesResult bench_images(const BenchImagesOptions& options);
void run(const BenchImagesOptions& options, const RunContext& context);

}  // namespace addp
