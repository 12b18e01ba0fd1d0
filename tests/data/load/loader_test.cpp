#include "data/load/loader.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "data/load/open_dataset.h"
#include "data/load/transforms.h"
#include "data/number_set.h"
#include "data/small_sets.h"
#include "support/no_more_threads.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::NumberSet;

BatchShape small_shape() { return {4, 4, PixelKind::kFloat, false}; }

// The picture with noise, so that a wrong stream shows.
void noisy(Sample& sample, RandomStream& random, BatchItem& item) {
  for (std::size_t i = 0; i < item.floats.size(); ++i) {
    item.floats[i] =
        static_cast<float>(sample.image.pixels[i]) + static_cast<float>(random.uniform());
  }
}

struct Seen {
  std::vector<std::int64_t> indices;
  std::vector<float> pixels;
  bool operator==(const Seen&) const = default;
};

Seen run(const std::shared_ptr<const Dataset>& set, const LoaderOptions& options, int batches,
         LoaderState start = {}, LoaderState* end = nullptr) {
  Loader loader(set, small_shape(), noisy, options, start);
  Seen seen;
  Batch batch;
  for (int i = 0; i < batches && loader.next(batch); ++i) {
    for (const BatchItem& item : batch.items) {
      seen.indices.push_back(item.index);
      seen.pixels.insert(seen.pixels.end(), item.floats.begin(), item.floats.end());
    }
  }
  if (end != nullptr) *end = loader.state();
  return seen;
}

LoaderOptions options_of(std::int64_t batch, int threads = 2) {
  LoaderOptions options;
  options.batch_size = batch;
  options.threads = threads;
  options.seed = 5;
  return options;
}

TEST(Loader, SameBatchesForAnyNumberOfThreadsAndPrefetch) {
  const auto set = std::make_shared<NumberSet>(250, std::set<std::int64_t>{4, 77});
  const Seen one = run(set, options_of(8, 1), 70);
  for (const int threads : {2, 3, 7}) {
    LoaderOptions options = options_of(8, threads);
    options.prefetch = threads;
    EXPECT_EQ(run(set, options, 70), one) << threads;
  }
  LoaderOptions other = options_of(8);
  other.seed = 6;
  EXPECT_NE(run(set, other, 70), one);
}

TEST(Loader, EpochsAreDifferentPermutations) {
  const auto set = std::make_shared<NumberSet>(40);
  const Seen seen = run(set, options_of(10), 8);
  const std::set<std::int64_t> first(seen.indices.begin(), seen.indices.begin() + 40);
  const std::set<std::int64_t> second(seen.indices.begin() + 40, seen.indices.end());
  EXPECT_EQ(first.size(), 40U);
  EXPECT_EQ(second.size(), 40U);
  EXPECT_FALSE(
      std::equal(seen.indices.begin(), seen.indices.begin() + 40, seen.indices.begin() + 40));
}

TEST(Loader, ResumesExactly) {
  const auto set = std::make_shared<NumberSet>(53);
  const Seen whole = run(set, options_of(4), 40);
  for (const int cut : {1, 12, 13, 14, 27}) {
    LoaderState state;
    Seen parts = run(set, options_of(4), cut, {}, &state);
    LoaderOptions check = options_of(4);
    EXPECT_EQ(Loader(set, small_shape(), noisy, check).state_before(cut), state) << cut;
    const Seen rest = run(set, options_of(4, 3), 40 - cut, state);
    parts.indices.insert(parts.indices.end(), rest.indices.begin(), rest.indices.end());
    parts.pixels.insert(parts.pixels.end(), rest.pixels.begin(), rest.pixels.end());
    EXPECT_EQ(parts, whole) << cut;
  }
}

TEST(Loader, RanksShareOneOrder) {
  const auto set = std::make_shared<NumberSet>(50);
  const Seen whole = run(set, options_of(8), 18);
  LoaderOptions half = options_of(4);
  half.world = 2;
  std::vector<Seen> ranks;
  for (half.rank = 0; half.rank < 2; ++half.rank) ranks.push_back(run(set, half, 18));
  for (std::size_t i = 0; i < whole.indices.size(); ++i) {
    const std::size_t batch = i / 8, place = i % 8;
    EXPECT_EQ(whole.indices[i], ranks[place / 4].indices[batch * 4 + place % 4]);
    EXPECT_EQ(whole.pixels[i * 48], ranks[place / 4].pixels[(batch * 4 + place % 4) * 48]);
  }
}

TEST(Loader, EvaluationGivesEachPictureOnceOnAnyNumberOfRanks) {
  const auto set = std::make_shared<NumberSet>(23);
  LoaderOptions options = options_of(4);
  options.train = options.shuffle = false;
  options.epochs = 1;
  for (options.world = 1; options.world <= 4; ++options.world) {
    std::vector<std::int64_t> all;
    std::set<int> batch_counts;
    for (options.rank = 0; options.rank < options.world; ++options.rank) {
      Loader loader(set, small_shape(), noisy, options);
      Batch batch;
      int count = 0;
      for (; loader.next(batch); ++count) {
        EXPECT_LE(batch.size(), 4U);
        EXPECT_EQ(batch.floats.size(), batch.size() * 48);
        for (const BatchItem& item : batch.items) all.push_back(item.index);
      }
      batch_counts.insert(count);
      EXPECT_EQ(count, loader.batches_per_epoch());
      EXPECT_FALSE(loader.next(batch));
    }
    EXPECT_EQ(batch_counts.size(), 1U) << "ranks must walk in step";
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), 23U);
    for (std::int64_t i = 0; i < 23; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  }
}

TEST(Loader, NoThreadAtAllIsSaid) {
  const testing::NoMoreThreads scope;
  EXPECT_THROW(run(std::make_shared<NumberSet>(30), options_of(8), 1), RuntimeError);
}

TEST(Loader, ASetSmallerThanTheBatchIsRepeated) {
  const Seen seen = run(std::make_shared<NumberSet>(3), options_of(8), 2);
  ASSERT_EQ(seen.indices.size(), 16U);
  std::map<std::int64_t, int> counts;
  for (std::size_t i = 0; i < 8; ++i) ++counts[seen.indices[i]];
  EXPECT_EQ(counts.size(), 3U);
  EXPECT_NE(seen.pixels[0], seen.pixels[3 * 48]);  // the same picture again, augmented anew
  EXPECT_EQ(seen.indices[0], seen.indices[3]);
}

TEST(Loader, RepeatedAugmentation) {
  LoaderOptions options = options_of(6);
  options.repeats = 3;
  const Seen seen = run(std::make_shared<NumberSet>(30), options, 5);
  ASSERT_EQ(seen.indices.size(), 30U);
  std::set<std::int64_t> distinct;
  for (std::size_t i = 0; i < 30; i += 3) {
    EXPECT_EQ(seen.indices[i], seen.indices[i + 1]);
    EXPECT_EQ(seen.indices[i], seen.indices[i + 2]);
    EXPECT_NE(seen.pixels[i * 48], seen.pixels[(i + 1) * 48]);
    distinct.insert(seen.indices[i]);
  }
  EXPECT_EQ(distinct.size(), 10U);
}

TEST(Loader, BrokenPicturesAreReplacedNamedAndCountedOnce) {
  const auto set = std::make_shared<NumberSet>(200, std::set<std::int64_t>{13, 150});
  Loader loader(set, small_shape(), noisy, options_of(10));
  Batch batch;
  for (int i = 0; i < 60; ++i) {  // three epochs
    ASSERT_TRUE(loader.next(batch));
    ASSERT_EQ(batch.size(), 10U);
    for (const BatchItem& item : batch.items) {
      EXPECT_NE(item.index, 13);
      EXPECT_NE(item.index, 150);
      EXPECT_EQ(item.class_id, item.index % 10);
    }
  }
  ASSERT_EQ(loader.broken().size(), 2U);
  EXPECT_EQ(loader.broken()[0].name.substr(0, 8), "picture ");
  EXPECT_NE(loader.broken()[0].reason.find("is broken"), std::string::npos);
}

TEST(Loader, EvaluationLeavesBrokenPicturesOut) {
  const auto set = std::make_shared<NumberSet>(100, std::set<std::int64_t>{41});
  LoaderOptions options = options_of(10);
  options.train = options.shuffle = false;
  options.epochs = 1;
  Loader loader(set, small_shape(), noisy, options);
  Batch batch;
  std::int64_t expected = 0;
  while (loader.next(batch)) {
    for (const BatchItem& item : batch.items) {
      if (expected == 41) ++expected;
      EXPECT_EQ(item.index, expected);
      // The pixels moved with the item.
      EXPECT_NEAR(item.floats[0],
                  testing::numbered_picture(static_cast<int>(expected), 4, 4).pixels[0], 1.0);
      ++expected;
    }
  }
  EXPECT_EQ(expected, 100);
  EXPECT_EQ(loader.broken().size(), 1U);
}

TEST(Loader, MoreThanOneInAHundredBrokenEndsTheRun) {
  const auto set = std::make_shared<NumberSet>(200, std::set<std::int64_t>{13, 150, 151});
  std::set<int> ends;
  for (const int threads : {1, 2, 5}) {
    Loader loader(set, small_shape(), noisy, options_of(10, threads));
    Batch batch;
    int count = 0;
    try {
      for (; count < 20; ++count) loader.next(batch);
      FAIL() << "nobody minded";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadData);
      EXPECT_NE(std::string(error.what()).find("3 of the 200 pictures are broken"),
                std::string::npos)
          << error.what();
    }
    ends.insert(count);
  }
  EXPECT_EQ(ends.size(), 1U) << "the end must not depend on the number of threads";
}

TEST(Loader, OtherExceptionsOfThreadsComeOut) {
  const auto set = std::make_shared<NumberSet>(20);
  const Transform failing = [](Sample& sample, RandomStream&, BatchItem&) {
    if (sample.id == 3) throw std::logic_error("a mistake in the transform");
  };
  Loader loader(set, small_shape(), failing, options_of(5));
  Batch batch;
  EXPECT_THROW(for (int i = 0; i < 4; ++i) loader.next(batch), std::logic_error);
}

TEST(Loader, MayBeLeftAtAnyTimeAndReadsNoFurtherThanPrefetch) {
  const auto set = std::make_shared<NumberSet>(1000);
  for (int i = 0; i < 20; ++i) {
    LoaderOptions options = options_of(10, 3);
    options.prefetch = 2;
    Loader loader(set, small_shape(), noisy, options);
    Batch batch;
    for (int k = 0; k < i % 3; ++k) loader.next(batch);
  }
  EXPECT_LE(set->loads, 20 * (2 + 2) * 10);
}

TEST(Loader, CropsPicturesOfAFolder) {
  testing::TemporaryFolder folder;
  testing::write_files(folder.path(), testing::class_set(4, 2));
  const auto set = open_dataset(folder.path().string(), "train", Task::kClassification);
  CropTransformOptions crop;
  crop.size = 16;
  const BatchShape floats{16, 16, PixelKind::kFloat, false},
      bytes{16, 16, PixelKind::kBytes, false};
  Loader a(set, floats, random_crop_transform(crop), options_of(6)),
      b(set, bytes, random_crop_transform(crop), options_of(6));
  Batch x, y;
  ASSERT_TRUE(a.next(x));
  ASSERT_TRUE(b.next(y));
  ASSERT_EQ(x.floats.size(), 6U * 3 * 16 * 16);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(x.items[i].index, y.items[i].index);
    EXPECT_EQ(x.items[i].class_id, set->class_of(x.items[i].index));
    for (std::size_t p = 0; p < 256; ++p) {
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_NEAR(x.items[i].floats[c * 256 + p] * 255, y.items[i].bytes[3 * p + c], 1e-3);
      }
    }
  }
}

TEST(Loader, MiddleCropIsTheSameForEncodedAndDecodedPictures) {
  Sample encoded, decoded;
  encoded.name = decoded.name = "x";
  encoded.encoded = FileBytes::own(testing::numbered_png(3, 31, 20));
  decoded.image = testing::numbered_picture(3, 31, 20);
  CropTransformOptions crop;
  crop.size = 12;
  RandomStream random(1, "test");
  BatchItem a, b;
  middle_crop_transform(crop)(encoded, random, a);
  middle_crop_transform(crop)(decoded, random, b);
  EXPECT_EQ(a.image, b.image);
  EXPECT_EQ(a.image.width, 12);
}

}  // namespace
}  // namespace addp
