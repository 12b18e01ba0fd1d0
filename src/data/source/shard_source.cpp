// WebDataset's convention: archives called by a pattern with braces, whose members of one stem are
// one sample. 000012.jpg is its picture, 000012.cls its class number; all else is left aside.
#include <algorithm>
#include <charconv>
#include <map>

#include "base/error.h"
#include "data/source/picture_source.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxShards = 100'000;

// The brace that closes the one at `open`; npos where there is none.
std::size_t closing_brace(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// "a,b{c,d}" -> "a", "b{c,d}"
std::vector<std::string_view> split_alternatives(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}') --depth;
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "008..011" -> "008", "009", "010", "011"; nothing where it is no range.
std::vector<std::string> expand_range(std::string_view inside, const std::string& pattern) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string_view low = inside.substr(0, dots), high = inside.substr(dots + 2);
  const auto first = parse_number(low), last = parse_number(high);
  if (!first || !last) return {};
  if (*first > *last || *last - *first >= kMaxShards) {
    throw DataError(
        "{}: '{}' is no range of shards; write the smaller number first, as {{000..099}}", pattern,
        inside);
  }
  std::vector<std::string> numbers;
  for (std::uint64_t i = *first; i <= *last; ++i) {
    numbers.push_back(fmt::format("{:0{}d}", i, low.size()));
  }
  return numbers;
}

void expand_into(const std::string& prefix, std::string_view rest, const std::string& pattern,
                 std::vector<std::string>& out) {
  const std::size_t open = rest.find('{');
  const std::size_t close =
      open == std::string_view::npos ? std::string_view::npos : closing_brace(rest, open);
  if (close == std::string_view::npos) {
    if (out.size() >= kMaxShards)
      throw DataError("{}: means more than {} shards", pattern, kMaxShards);
    out.push_back(prefix + std::string(rest));
    return;
  }
  const std::string before = prefix + std::string(rest.substr(0, open));
  const std::string_view inside = rest.substr(open + 1, close - open - 1);
  const std::string after(rest.substr(close + 1));
  const std::vector<std::string> numbers = expand_range(inside, pattern);
  for (const std::string& number : numbers) expand_into(before + number, after, pattern, out);
  if (!numbers.empty()) return;
  for (const std::string_view part : split_alternatives(inside)) {
    expand_into(before, std::string(part) + after, pattern, out);
  }
}

// "imagenet-val-003.tar" -> "val": the first word of a shard's name that names a split.
std::string split_in_name(const std::string& shard) {
  std::string word;
  for (const char c : fs::path(shard).filename().string() + "-") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (word == "train" || word == "val" || word == "test" || word == "validation") return word;
    word.clear();
  }
  return {};
}

// What a member is for: its sample (up to the first dot of its file) and its ending (behind it).
std::pair<std::string, std::string> sample_and_ending(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = name.find('.', slash == std::string::npos ? 0 : slash + 1);
  if (dot == std::string::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string class_in(const PictureSource& shard, std::size_t index) {
  const FileBytes bytes = shard.read(index);
  std::string text(reinterpret_cast<const char*>(bytes.view.data()),
                   std::min<std::size_t>(bytes.view.size(), 64));
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  if (const auto number = parse_number(text)) return fmt::format("{}", *number);
  throw DataError("{}: holds no class number; a .cls member is a number as text",
                  shard.describe(index));
}

class ShardSource final : public PictureSource {
 public:
  ShardSource(const std::string& given, std::vector<std::shared_ptr<const PictureSource>> shards)
      : PictureSource(SourceKind::kShards, given), shards_(std::move(shards)) {
    std::vector<Member> members;
    for (const auto& shard : shards_) collect(*shard, members);
    std::sort(members.begin(), members.end(),
              [](const Member& a, const Member& b) { return a.name < b.name; });
    const auto any = [&](auto field) {
      return std::any_of(members.begin(), members.end(),
                         [&](const Member& m) { return !(m.*field).empty(); });
    };
    const bool classes = any(&Member::class_name), splits = any(&Member::split);
    for (Member& member : members) {
      names_.push_back(std::move(member.name));
      places_.emplace_back(member.shard, member.index);
      if (classes) list_classes_.push_back(std::move(member.class_name));
      if (splits) list_splits_.push_back(std::move(member.split));
    }
  }

  std::string describe(std::size_t index) const override {
    const auto [shard, inner] = places_.at(index);
    return shard->describe(inner);
  }
  FileBytes read(std::size_t index) const override {
    const auto [shard, inner] = places_.at(index);
    return shard->read(inner);
  }
  Bytes head(std::size_t index, std::size_t count) const override {
    const auto [shard, inner] = places_.at(index);
    return shard->head(inner, count);
  }

 private:
  struct Member {
    std::string name, class_name, split;
    const PictureSource* shard;
    std::size_t index;
  };

  static void collect(const PictureSource& shard, std::vector<Member>& members) {
    std::map<std::string, std::string> classes;
    for (std::size_t i = 0; i < shard.size(); ++i) {
      const auto [sample, ending] = sample_and_ending(shard.names()[i]);
      if (ending == "cls") classes[sample] = class_in(shard, i);
    }
    for (std::size_t i = 0; i < shard.size(); ++i) {
      const auto [sample, ending] = sample_and_ending(shard.names()[i]);
      // "000012.mask.png" is not the picture of its sample
      if (!is_called_picture("." + ending) || ending.find('.') != std::string::npos) continue;
      const auto found = classes.find(sample);
      members.push_back({shard.path() + "/" + shard.names()[i],
                         found == classes.end() ? "" : found->second, split_in_name(shard.path()),
                         &shard, i});
    }
  }

  std::vector<std::shared_ptr<const PictureSource>> shards_;
  std::vector<std::pair<const PictureSource*, std::size_t>> places_;
};

}  // namespace

std::vector<std::string> expand_shards(const std::string& pattern) {
  std::vector<std::string> shards;
  expand_into("", pattern, pattern, shards);
  return shards;
}

bool is_shard_pattern(const std::string& spec) {
  const std::size_t open = spec.find('{');
  std::error_code ignored;
  return open != std::string::npos && closing_brace(spec, open) != std::string::npos &&
         !fs::exists(spec, ignored);
}

bool has_class_members(const PictureSource& archive) {
  return std::any_of(archive.names().begin(), archive.names().end(),
                     [](const std::string& name) { return name.ends_with(".cls"); });
}

std::shared_ptr<const PictureSource> join_shards(
    const std::string& given, std::vector<std::shared_ptr<const PictureSource>> shards) {
  return std::make_shared<ShardSource>(given, std::move(shards));
}

std::shared_ptr<const PictureSource> open_shards(const std::string& pattern,
                                                 const SourceLimits& limits) {
  const std::vector<std::string> files = expand_shards(pattern);
  const auto missing = [](const std::string& file) {
    std::error_code ignored;
    return !fs::is_regular_file(file, ignored);
  };
  const auto first = std::find_if(files.begin(), files.end(), missing);
  if (first != files.end()) {
    throw DataError("{}: {} of its {} shards are missing, {} for one; give the numbers there are",
                    pattern, std::count_if(files.begin(), files.end(), missing), files.size(),
                    *first);
  }
  std::vector<std::shared_ptr<const PictureSource>> shards;
  for (const std::string& file : files) {
    if (!is_archive(file)) throw DataError("{}: is no archive; shards are .tar files", file);
    shards.push_back(open_archive(file, limits));
  }
  return join_shards(pattern, std::move(shards));
}

}  // namespace addp
