#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "data/small_sets.h"
#include "data/source/picture_source.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::ArchiveKind;
using testing::TemporaryFolder;
using testing::to_bytes;

testing::NamedFiles sample_files() {
  testing::NamedFiles files = testing::class_set(3, 2);
  files.emplace_back("notes.txt", to_bytes("read me"));
  files.emplace_back("empty.png", Bytes{});
  files.emplace_back("large.bin", Bytes(300'000, 7));
  return files;
}

Bytes content(const PictureSource& source, std::size_t index) {
  const FileBytes bytes = source.read(index);
  return Bytes(bytes.view.begin(), bytes.view.end());
}

class Archives : public ::testing::TestWithParam<ArchiveKind> {};

TEST_P(Archives, HoldWhatTheFolderHolds) {
  TemporaryFolder folder;
  const testing::NamedFiles files = sample_files();
  testing::write_files(folder.path() / "set", files);
  testing::write_archive(folder.path() / "set.dat", GetParam(), files);
  const auto a = open_source(folder.path() / "set"), b = open_source(folder.path() / "set.dat");
  EXPECT_EQ(a->kind(), SourceKind::kFolder);
  EXPECT_EQ(b->kind(), SourceKind::kArchive);
  ASSERT_EQ(a->names(), b->names());
  EXPECT_EQ(a->size(), files.size());
  for (std::size_t i = 0; i < a->size(); ++i) {
    EXPECT_EQ(content(*a, i), content(*b, i)) << a->names()[i];
    EXPECT_EQ(a->head(i, 16), b->head(i, 16));
  }
}

TEST_P(Archives, TruncatedOnesAreRefusedByName) {
  TemporaryFolder folder;
  const auto path = folder.path() / "set.dat";
  testing::write_archive(path, GetParam(), sample_files());
  const auto whole = std::filesystem::file_size(path);
  for (const double part : {0.1, 0.4, 0.8}) {
    std::filesystem::resize_file(path,
                                 static_cast<std::uintmax_t>(part * static_cast<double>(whole)));
    try {
      open_archive(path);
      FAIL() << "a part of " << part << " was accepted";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Archives,
                         ::testing::Values(ArchiveKind::kTar, ArchiveKind::kTarGz,
                                           ArchiveKind::kZip, ArchiveKind::kZipStored));

TEST(Source, MembersOfPlainTarAreNotCopied) {
  TemporaryFolder folder;
  testing::write_archive(folder.path() / "a.tar", ArchiveKind::kTar, sample_files());
  auto map = std::make_shared<const MappedFile>(folder.path() / "a.tar");
  SourceLimits limits;
  limits.max_unpacked_bytes = 1;  // any copy would exceed it
  const auto source = open_archive_bytes({map->bytes(), map}, "a.tar", limits);
  for (std::size_t i = 0; i < source->size(); ++i) {
    const FileBytes bytes = source->read(i);
    if (bytes.view.empty()) continue;
    EXPECT_GE(bytes.view.data(), map->bytes().data());
    EXPECT_LE(bytes.view.data() + bytes.view.size(), map->bytes().data() + map->bytes().size());
  }
}

TEST(Source, LimitsOfArchivesHold) {
  TemporaryFolder folder;
  const auto path = folder.path() / "a.tgz";
  testing::write_archive(path, ArchiveKind::kTarGz, sample_files());
  SourceLimits limits;
  limits.max_unpacked_bytes = 100'000;
  EXPECT_THROW(open_archive(path, limits), DataError);
  limits = {};
  limits.max_entries = 5;
  EXPECT_THROW(open_archive(path, limits), DataError);
  limits = {};
  limits.max_entry_bytes = 1000;
  EXPECT_THROW(open_archive(path, limits), DataError);
}

TEST(Source, NamesThatReachOutOrHideAreLeftOut) {
  TemporaryFolder folder;
  testing::write_archive(folder.path() / "a.tar", ArchiveKind::kTar,
                         {{"../../etc/passwd", to_bytes("x")},
                          {"/absolute.txt", to_bytes("a")},
                          {"./b.txt", to_bytes("b")},
                          {"__MACOSX/._c.txt", to_bytes("c")},
                          {".hidden", to_bytes("d")},
                          {"b.txt", to_bytes("second")}});
  const auto source = open_source(folder.path() / "a.tar");
  EXPECT_EQ(source->names(), (std::vector<std::string>{"absolute.txt", "b.txt"}));
  EXPECT_EQ(content(*source, 1), to_bytes("second"));  // the later member of a name counts
}

TEST(Source, UnicodeNamesDoNotDependOnTheLocale) {
  TemporaryFolder folder;
  const std::string name = "z\xc3\xbcrich/\xe5\xb1\xb1.png";
  for (const ArchiveKind kind : {ArchiveKind::kTar, ArchiveKind::kZip}) {
    testing::write_archive(folder.path() / "a.dat", kind, {{name, testing::numbered_png(1)}});
    EXPECT_EQ(open_source(folder.path() / "a.dat")->names(), std::vector<std::string>{name});
  }
}

TEST(Source, FolderFollowsLinksButNotInCircles) {
  TemporaryFolder folder;
  testing::write_files(folder.path(), {{"set/a/1.png", testing::numbered_png(1)},
                                       {"other/2.png", testing::numbered_png(2)}});
  std::filesystem::create_directory_symlink(folder.path() / "other", folder.path() / "set/b");
  std::filesystem::create_directory_symlink(folder.path() / "set", folder.path() / "set/a/again");
  EXPECT_EQ(open_source(folder.path() / "set")->names(),
            (std::vector<std::string>{"a/1.png", "b/2.png"}));
}

TEST(Source, ListsAreRelativeToThemselvesAndMayGiveClasses) {
  const auto lines =
      parse_file_list("# head\n a.jpg \r\nb c.jpg\td e\nx/y.png 12\nlast one.jpg", "l");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].path, "a.jpg");
  EXPECT_EQ(lines[1].path, "b c.jpg");
  EXPECT_EQ(lines[1].class_name, "d e");
  EXPECT_EQ(lines[2].path, "x/y.png");
  EXPECT_EQ(lines[2].class_name, "12");
  EXPECT_EQ(lines[3].path, "last one.jpg");
  EXPECT_EQ(lines[3].class_name, "");

  TemporaryFolder folder;
  testing::write_files(folder.path(), {{"deep/z.png", testing::numbered_png(5)},
                                       {"deep/list.txt", to_bytes("z.png\nmissing.png\n")}});
  const auto source = open_source(folder.path() / "deep/list.txt");
  EXPECT_EQ(source->kind(), SourceKind::kList);
  EXPECT_EQ(content(*source, 0), testing::numbered_png(5));
  EXPECT_THROW(source->read(1), DataError);
}

TEST(Source, ContentDecidesNotTheExtension) {
  TemporaryFolder folder;
  testing::write_files(folder.path(), {{"archive.jpg.txt", testing::numbered_jpeg(3)},
                                       {"noise", Bytes{0, 1, 2, 3}}});
  testing::write_archive(folder.path() / "set.png", ArchiveKind::kZip,
                         {{"a", testing::numbered_png(1)}, {"b", to_bytes("no")}});
  EXPECT_EQ(open_source(folder.path() / "archive.jpg.txt")->kind(), SourceKind::kPicture);
  const auto zip = open_source(folder.path() / "set.png");
  EXPECT_TRUE(is_picture(*zip, 0));
  EXPECT_FALSE(is_picture(*zip, 1));
  EXPECT_THROW(open_source(folder.path() / "noise"), DataError);
  EXPECT_THROW(open_source(folder.path() / "nothing"), DataError);
}

TEST(Source, ManyThreadsMayRead) {
  TemporaryFolder folder;
  testing::write_archive(folder.path() / "a.zip", ArchiveKind::kZip, testing::class_set(20, 0));
  const auto source = open_source(folder.path() / "a.zip");
  std::vector<Bytes> expected;
  for (std::size_t i = 0; i < source->size(); ++i) expected.push_back(content(*source, i));
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < source->size(); ++i)
        wrong[t] += content(*source, i) != expected[i];
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::count(wrong.begin(), wrong.end(), 0), 4);
}

}  // namespace
}  // namespace addp
