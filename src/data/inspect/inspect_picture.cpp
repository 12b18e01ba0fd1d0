#include "data/inspect/inspect_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/name_of.h"
#include "base/text.h"

namespace addp {
namespace {

// "a.jpg: this JPEG picture ..." without the name, which the report shows anyway.
std::string without_name(const std::string& message, const std::string& name) {
  return message.starts_with(name + ": ") ? message.substr(name.size() + 2) : message;
}

bool extension_fits(const std::string& extension, ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return extension == "jpg" || extension == "jpeg" || extension == "jpe" || extension == "jfif";
    case ImageFormat::kPng:
      return extension == "png";
    case ImageFormat::kWebp:
      return extension == "webp";
    case ImageFormat::kUnknown:
      return false;
  }
  return false;
}

void find_oddities(const ImageInfo& info, const std::string& name, const InspectOptions& options,
                   std::vector<DataProblem>& problems) {
  const auto odd = [&](const char* kind, std::string text) {
    problems.push_back({kind, name, "", std::move(text)});
  };
  if (!extension_fits(lower_extension(name), info.format)) {
    odd("wrong extension", fmt::format("is a {} picture by its content", format_name(info.format)));
  }
  if (info.channels <= 2) odd("grey", "is grey");
  if (info.channels == 4 && info.format == ImageFormat::kJpeg) odd("CMYK", "is CMYK");
  if (info.bits == 16) odd("16-bit", "has 16 bits per channel");
  if (info.orientation != 1)
    odd("rotated", fmt::format("has EXIF orientation {}", info.orientation));
  if (std::min(info.width, info.height) < options.tiny_side) {
    odd("tiny", fmt::format("has only {} x {} pixels", info.width, info.height));
  }
  if (std::int64_t{info.width} * info.height > options.huge_pixels) {
    odd("huge", fmt::format("has {} x {} pixels", info.width, info.height));
  }
}

// Every label that no class has, once, with the number of pixels.
void examine_labels(const PictureSource& source, const PictureJob& job, const LabelRule& rule,
                    PictureFindings& findings) {
  const std::string name = source.describe(job.labels);
  const auto bad = [&](const char* kind, std::string text) {
    findings.annotations.push_back({kind, name, "", std::move(text)});
  };
  GrayImage labels;
  try {
    labels = decode_labels(source.read(job.labels).view, name);
  } catch (const DataError& error) {
    return bad("bad label map", without_name(error.what(), name));
  }
  if (!findings.broken &&
      (labels.width != findings.info.width || labels.height != findings.info.height)) {
    bad("wrong size", fmt::format("has {} x {} pixels, its picture {} x {}", labels.width,
                                  labels.height, findings.info.width, findings.info.height));
  }
  std::vector<std::int64_t> counts(256);
  for (const std::uint8_t value : labels.pixels) ++counts[value];
  for (std::size_t value = 0; value < counts.size(); ++value) {
    if (counts[value] == 0 || rule.to_class[value] >= 0) continue;
    bad("label above the class count",
        fmt::format("has the label {} in {} pixels, but there are {} classes", value, counts[value],
                    rule.class_names.size()));
  }
}

void examine_pixels(const PictureSource& source, const PictureJob& job,
                    const InspectOptions& options, PictureFindings& findings) {
  const std::string name = source.describe(job.entry);
  const auto broken = [&](const char* kind, std::string text) {
    findings.broken = true;
    findings.problems.push_back({kind, name, "", std::move(text)});
  };
  FileBytes bytes;
  try {
    bytes = source.read(job.entry);
  } catch (const DataError& error) {
    return broken("unreadable", without_name(error.what(), name));
  }
  if (bytes.view.empty()) return broken("zero bytes", "is empty");
  if (sniff_image_format(bytes.view) == ImageFormat::kUnknown) {
    return broken("no picture", "is neither JPEG, PNG nor WebP by its content");
  }
  try {
    findings.info = read_image_info(bytes.view, name);
    decode_image(bytes.view, name);
  } catch (const DataError& error) {
    return broken("damaged", without_name(error.what(), name));
  }
  find_oddities(findings.info, name, options, findings.problems);
}

}  // namespace

const char* format_name(ImageFormat format) {
  static constexpr Named<ImageFormat> kNames[] = {{ImageFormat::kJpeg, "JPEG"},
                                                  {ImageFormat::kPng, "PNG"},
                                                  {ImageFormat::kWebp, "WebP"},
                                                  {ImageFormat::kUnknown, "unknown"}};
  return name_of(kNames, format);
}

PictureFindings examine_picture(const PictureSource& source, const PictureJob& job,
                                const LabelRule* rule, const InspectOptions& options) {
  PictureFindings findings;
  examine_pixels(source, job, options, findings);
  if (job.labels != kNoEntry && rule != nullptr) examine_labels(source, job, *rule, findings);
  const ImageInfo& info = findings.info;
  if (!findings.broken && job.width > 0 && (info.width != job.width || info.height != job.height)) {
    findings.annotations.push_back(
        {"wrong size", job.annotation_file, job.id,
         fmt::format("says {} x {}, but '{}' has {} x {} pixels", job.width, job.height,
                     source.names()[job.entry], info.width, info.height)});
  }
  return findings;
}

}  // namespace addp
