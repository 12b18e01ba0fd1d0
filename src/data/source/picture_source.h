// Files that lie in a folder, in an archive or in a file list, as one sorted, read-only list of
// names with their bytes on demand. Every data set layout is recognised on top of this list, so
// that whatever works in a folder works inside an archive.
//
// - Folder: recursive, symbolic links followed, hidden files omitted; a file is read when it is
//   asked for.
// - `.tar`, `.zip` and the like (recognised by content): the file is mapped into memory. Members
//   that are stored as they are (plain tar, stored zip) are given out as parts of that map: opening
//   reads the headers only and access is random. Compressed members are unpacked once, at opening,
//   into memory, up to a limit; beyond it the error says to unpack or to repack as plain .tar.
//   Nothing is ever written to disk, so names inside an archive cannot reach outside it. The
//   archive must not be shortened while it is open.
// - File list: one path per line, relative to the list's folder, with an optional class behind a
//   tab, or a class number behind a blank; '#' begins a comment line.
// - Shards: archives named by a pattern with braces (set-{000..099}.tar, set-{train,val}.tar), or
//   one archive with .cls members, in WebDataset's convention: NAME.jpg (.png, .webp) is a picture,
//   NAME.cls its class number as text, other endings are left aside. The names have the pictures
//   only. A shard that is called train, val or test belongs to that split.
// - A single picture.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file_io.h"

namespace addp {

struct SourceLimits {
  std::uint64_t max_entries = 50'000'000;
  std::uint64_t max_entry_bytes = std::uint64_t{4} << 30;
  // Compressed archives in memory; 0: half of the machine's memory.
  std::uint64_t max_unpacked_bytes = 0;
};

// Bytes and what keeps them alive: a map, an unpacked member or a buffer of their own.
struct FileBytes {
  ByteSpan view;
  std::shared_ptr<const void> owner;

  static FileBytes own(Bytes bytes);
};

enum class SourceKind { kFolder, kArchive, kList, kShards, kPicture };

// Thread-safe after construction: everything is const.
class PictureSource {
 public:
  virtual ~PictureSource() = default;

  SourceKind kind() const { return kind_; }
  const std::string& path() const { return path_; }  // as given by the user
  const std::vector<std::string>& names() const {
    return names_;
  }  // sorted; a list keeps its order
  // Classes that a list, or shards, give their pictures; empty strings, or an empty vector, where
  // there are none.
  const std::vector<std::string>& list_classes() const { return list_classes_; }
  // The same for the splits that shards' names tell.
  const std::vector<std::string>& list_splits() const { return list_splits_; }
  std::size_t size() const { return names_.size(); }
  std::optional<std::size_t> find(std::string_view name) const;
  // For messages: "data.tar: train/a.jpg" or the path of the file.
  virtual std::string describe(std::size_t index) const = 0;
  // A DataError if the file has vanished, cannot be read or is beyond the limits.
  virtual FileBytes read(std::size_t index) const = 0;
  // The first bytes only, enough to recognise a format by.
  virtual Bytes head(std::size_t index, std::size_t count) const = 0;

 protected:
  PictureSource(SourceKind kind, std::string path) : kind_(kind), path_(std::move(path)) {}

  SourceKind kind_;
  std::string path_;
  std::vector<std::string> names_;
  std::vector<std::string> list_classes_, list_splits_;
};

// What the bytes at `path` are decides, never the extension. A DataError names the path and
// what was found.
std::shared_ptr<const PictureSource> open_source(const std::filesystem::path& path,
                                                 const SourceLimits& limits = {});

// The parts of open_source, for other callers and for fuzzing.
std::shared_ptr<const PictureSource> open_folder(const std::filesystem::path& path,
                                                 const SourceLimits& limits = {});
std::shared_ptr<const PictureSource> open_archive(const std::filesystem::path& path,
                                                  const SourceLimits& limits = {});
std::shared_ptr<const PictureSource> open_archive_bytes(FileBytes bytes, const std::string& name,
                                                        const SourceLimits& limits = {});
std::shared_ptr<const PictureSource> open_list(const std::filesystem::path& path,
                                               const SourceLimits& limits = {});

// A path with braces that is not there as it stands.
bool is_shard_pattern(const std::string& spec);
// "a-{8..10}.tar" -> a-8.tar, a-9.tar, a-10.tar; numbers keep the zeros of the first, alternatives
// stand between commas, braces nest.
std::vector<std::string> expand_shards(const std::string& pattern);
std::shared_ptr<const PictureSource> open_shards(const std::string& pattern,
                                                 const SourceLimits& limits = {});
// Opened archives as the shards of one set, and whether one by itself is such a shard.
std::shared_ptr<const PictureSource> join_shards(
    const std::string& given, std::vector<std::shared_ptr<const PictureSource>> shards);
bool has_class_members(const PictureSource& archive);

struct ListLine {
  std::string path, class_name;  // no class: empty
};
std::vector<ListLine> parse_file_list(std::string_view text, const std::string& name,
                                      const SourceLimits& limits = {});

bool looks_like_archive(ByteSpan head);
bool is_archive(const std::filesystem::path& file);
bool is_called_picture(std::string_view name);  // by its extension

// True for a picture: by extension where that is one of a picture's, else by its first bytes,
// except where the extension is one of well-known other things (.txt, .json, ...).
bool is_picture(const PictureSource& source, std::size_t index);

// Sorting, stripping of "./" and the like that all sources share; empty for a name that is to be
// left out (hidden files, __MACOSX/, nothing left).
std::string clean_entry_name(std::string_view name);

}  // namespace addp
