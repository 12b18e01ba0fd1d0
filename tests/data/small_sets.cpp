#include "data/small_sets.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <locale.h>

#include "image/codec/codec.h"

namespace addp::testing {

Bytes to_bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }

Image numbered_picture(int number, int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::uint8_t* pixel = image.at(x, y);
      pixel[0] = static_cast<std::uint8_t>(number * 37 + x);
      pixel[1] = static_cast<std::uint8_t>(number / 7 + 3 * y);
      pixel[2] = static_cast<std::uint8_t>(number * 11 + x * y);
    }
  }
  return image;
}

Bytes numbered_png(int number, int width, int height) {
  return encode_png(numbered_picture(number, width, height));
}

Bytes numbered_jpeg(int number, int width, int height) {
  return encode_jpeg(numbered_picture(number, width, height));
}

NamedFiles class_set(int train, int val) {
  NamedFiles files;
  int number = 0;
  for (const std::string name : {"ant", "bee", "cat"}) {
    for (int i = 0; i < train; ++i) {
      files.emplace_back("train/" + name + "/" + std::to_string(i) + ".png",
                         numbered_png(number++));
    }
    for (int i = 0; i < val; ++i) {
      files.emplace_back("val/" + name + "/" + std::to_string(i) + ".jpg", numbered_jpeg(number++));
    }
  }
  return files;
}

void write_files(const std::filesystem::path& folder, const NamedFiles& files) {
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    write_file_atomically(path, ByteSpan(bytes));
  }
}

void write_archive(const std::filesystem::path& path, ArchiveKind kind, const NamedFiles& files) {
  // libarchive writes names of the thread's locale; the reader under test must not need one.
  const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
  const locale_t before = ::uselocale(utf8);
  archive* a = archive_write_new();
  const bool zip = kind == ArchiveKind::kZip || kind == ArchiveKind::kZipStored;
  if (zip) {
    archive_write_set_format_zip(a);
    if (kind == ArchiveKind::kZipStored) archive_write_zip_set_compression_store(a);
  } else {
    archive_write_set_format_pax_restricted(a);
    if (kind == ArchiveKind::kTarGz) archive_write_add_filter_gzip(a);
  }
  ASSERT_EQ(archive_write_open_filename(a, path.c_str()), ARCHIVE_OK);
  for (const auto& [name, bytes] : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    ASSERT_EQ(archive_write_header(a, entry), ARCHIVE_OK) << archive_error_string(a);
    if (!bytes.empty()) {
      ASSERT_EQ(archive_write_data(a, bytes.data(), bytes.size()),
                static_cast<la_ssize_t>(bytes.size()));
    }
    archive_entry_free(entry);
  }
  ASSERT_EQ(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
  ::uselocale(before);
  ::freelocale(utf8);
}

}  // namespace addp::testing
