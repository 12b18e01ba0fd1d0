#include "commands/machine/bench_images.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/json_text.h"
#include "base/run/subprocess.h"
#include "data/source/picture_source.h"
#include "image/augment/augment.h"
#include "image/codec/crop_decode.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Photograph-like pictures: smooth colour with fine detail, at the quality cameras use.
std::vector<Bytes> make_pictures(std::int64_t count) {
  std::vector<Bytes> files;
  for (std::int64_t i = 0; i < count; ++i) {
    RandomStream random(0, "bench pictures", 0, std::uint64_t(i));
    Image image(400, 300);
    const double a = random.uniform(0.01, 0.1), b = random.uniform(0.01, 0.1);
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const double grain = random.uniform(-12, 12);
        for (int c = 0; c < 3; ++c) {
          const double value = 128 + 90 * std::sin(a * x + c) * std::cos(b * y - c) + grain;
          image.at(x, y)[c] = static_cast<std::uint8_t>(value);
        }
      }
    }
    files.push_back(encode_jpeg(image, 85));
  }
  return files;
}

std::vector<Bytes> read_pictures(const std::string& data) {
  const auto source = open_source(data);
  std::vector<Bytes> files;
  for (std::size_t i = 0; i < source->size(); ++i) {
    if (!is_picture(*source, i)) continue;
    const FileBytes bytes = source->read(i);
    files.emplace_back(bytes.view.begin(), bytes.view.end());
  }
  if (files.empty()) throw DataError("{}: no pictures in there", data);
  return files;
}

struct Tally {
  std::int64_t pictures = 0;
  double pixels = 0;
};

// One thread's share: item n is picture n mod files, with a crop that depends on n alone.
Tally work(const std::vector<Bytes>& files, const BenchImagesOptions& options,
           Clock::time_point end, std::atomic<std::uint64_t>& next) {
  Tally tally;
  RandomCropOptions crop;
  crop.min_area = options.min_area;
  while (Clock::now() < end) {
    const std::uint64_t item = next++;
    const Bytes& file = files[item % files.size()];
    RandomStream random(0, "bench", 0, item);
    const Image image = decode_crop(file, "picture", [&](const ImageInfo& info) {
      tally.pixels += double(info.width) * info.height;
      CropRequest request;
      request.box = random_resized_crop(info.width, info.height, crop, random);
      request.width = request.height = static_cast<int>(options.size);
      request.filter = options.filter == "bicubic" ? Resample::kBicubic : Resample::kBilinear;
      request.mirror = random.chance(0.5);
      return request;
    });
    tally.pictures += image.empty() ? 0 : 1;
  }
  return tally;
}

// Runs the Pillow program on the same pictures and takes its fastest variant.
void measure_reference(const BenchImagesOptions& options, BenchImagesResult& result) {
  const ProgramResult run =
      run_program({options.python, options.reference, options.data, "--workers",
                   fmt::format("{}", result.threads), "--seconds",
                   fmt::format("{}", options.seconds), "--size", fmt::format("{}", options.size),
                   "--min-area", fmt::format("{}", options.min_area), "--filter", options.filter});
  const auto answer = nlohmann::json::parse(run.output, nullptr, false);
  if (!answer.is_object() || !answer.contains("best")) {
    throw RuntimeError("{} gave no figures: is Pillow installed for {}?", options.reference,
                       options.python);
  }
  result.reference_per_second = answer.at("best").value("pictures_per_second", 0.0);
  result.reference_variant = answer.at("best").value("variant", "");
}

}  // namespace

BenchImagesResult measure_images(const std::vector<Bytes>& files,
                                 const BenchImagesOptions& options) {
  if (files.empty()) throw UsageError("there are no pictures to measure with");
  BenchImagesResult result;
  result.files = static_cast<std::int64_t>(files.size());
  result.threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  Tally total;
  const Clock::time_point start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(options.seconds));
  {
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < result.threads; ++i) {
      threads.emplace_back([&] {
        try {
          const Tally tally = work(files, options, end, next);
          const std::lock_guard lock(mutex);
          total.pictures += tally.pictures;
          total.pixels += tally.pixels;
        } catch (...) {
          const std::lock_guard lock(mutex);
          failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
  result.seconds = seconds_since(start);
  result.pictures = total.pictures;
  result.pictures_per_second = double(total.pictures) / result.seconds;
  result.decoded_megapixels_per_second = total.pixels / result.seconds / 1e6;
  return result;
}

BenchImagesResult bench_images(const BenchImagesOptions& options) {
  if (!options.python.empty() && options.data.empty()) {
    throw UsageError("--python compares on pictures of yours: give a folder or an archive");
  }
  BenchImagesResult result = measure_images(
      options.data.empty() ? make_pictures(64) : read_pictures(options.data), options);
  if (!options.python.empty()) measure_reference(options, result);
  return result;
}

void run(const BenchImagesOptions& options, const RunContext& context) {
  const BenchImagesResult result = bench_images(options);
  const double ratio = result.reference_per_second > 0
                           ? result.pictures_per_second / result.reference_per_second
                           : 0;
  if (context.json) {
    nlohmann::json json{{"files", result.files},
                        {"pictures", result.pictures},
                        {"threads", result.threads},
                        {"seconds", result.seconds},
                        {"pictures_per_second", result.pictures_per_second},
                        {"megapixels_per_second", result.decoded_megapixels_per_second}};
    if (ratio > 0) {
      json["pillow"] = {{"pictures_per_second", result.reference_per_second},
                        {"variant", result.reference_variant}};
      json["ratio"] = ratio;
    }
    print_stdout(json_text(json) + "\n");
    return;
  }
  print_stdout(
      fmt::format("decode + random-resized-crop to {} + flip, {} threads, {} files\n  {:.0f} "
                  "pictures/s  ({:.0f} megapixels/s)\n",
                  options.size, result.threads, result.files, result.pictures_per_second,
                  result.decoded_megapixels_per_second));
  if (ratio > 0) {
    print_stdout(fmt::format("  Pillow ({}): {:.0f} pictures/s, so {:.2f} times as many here\n",
                             result.reference_variant, result.reference_per_second, ratio));
  }
}

}  // namespace addp
