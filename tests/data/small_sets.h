// Small data sets on disk, for tests.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file/file_io.h"
#include "image/image.h"

namespace addp::testing {

using NamedFiles = std::vector<std::pair<std::string, Bytes>>;

Bytes to_bytes(const std::string& text);
// A picture that `number` makes different from others.
Image numbered_picture(int number, int width = 24, int height = 20);
Bytes numbered_png(int number, int width = 24, int height = 20);
Bytes numbered_jpeg(int number, int width = 24, int height = 20);
// train/{ant,bee,cat}/*.png and val/...: `train` and `val` pictures per class.
NamedFiles class_set(int train, int val);

void write_files(const std::filesystem::path& folder, const NamedFiles& files);

enum class ArchiveKind { kTar, kTarGz, kZip, kZipStored };
void write_archive(const std::filesystem::path& path, ArchiveKind kind, const NamedFiles& files);

}  // namespace addp::testing
