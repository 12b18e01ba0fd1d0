#include "eval/generation/copies.h"

#include <gtest/gtest.h>

#include "nn/torch.h"

namespace addp {
namespace {

TEST(Copies, NearestRowIsTheOneByBruteForce) {
  torch::manual_seed(1);
  const Tensor bank = torch::randn({40, 7}), queries = torch::randn({300, 7});
  const Nearest found = nearest_rows(bank, queries);
  for (const std::int64_t row : {0, 17, 299}) {
    const Tensor distances = (bank - queries[row]).norm(2, 1);
    EXPECT_EQ(found.index[row].item<std::int64_t>(), distances.argmin().item<std::int64_t>());
    EXPECT_NEAR(found.distance[row].item<double>(), distances.min().item<double>(), 1e-4);
  }
}

TEST(Copies, RepeatedPicturesAreNearAndNewOnesAreNot) {
  torch::manual_seed(2);
  const Tensor train = torch::rand({400, 3, 32, 32}), held_out = torch::rand({200, 3, 32, 32});
  const Tensor bank = thumbnail_rows(train);
  const Tensor expected = nearest_rows(bank, thumbnail_rows(held_out)).distance;
  const auto near = [&](const Tensor& pictures) {
    return compare_distances(nearest_rows(bank, thumbnail_rows(pictures)).distance, expected).near;
  };
  EXPECT_LT(near(torch::rand({200, 3, 32, 32})), 0.15);
  // Copies with noise on every pixel, among as many new ones.
  const Tensor copies =
      (train.slice(0, 0, 100) + 0.05 * torch::randn({100, 3, 32, 32})).clamp(0, 1);
  EXPECT_GE(near(copies), 0.99);
  EXPECT_GE(near(torch::cat({copies, torch::rand({100, 3, 32, 32})})), 0.5);
}

// Of uniform numbers the median's error is known: 1 / (2 sqrt(n)).
TEST(Copies, MediansComeWithTheirErrors) {
  torch::manual_seed(3);
  const CopyFigures figures = compare_distances(torch::rand({10000}), torch::rand({400}) + 1);
  EXPECT_NEAR(figures.generated, 0.5, 0.02);
  EXPECT_NEAR(figures.generated_error, 0.005, 0.0015);
  EXPECT_NEAR(figures.held_out, 1.5, 0.1);
  EXPECT_NEAR(figures.held_out_error, 0.025, 0.015);
}

TEST(Copies, DirectionsForgetLength) {
  const Tensor features = torch::randn({5, 8});
  EXPECT_TRUE(torch::allclose(direction_rows(features), direction_rows(3 * features)));
  EXPECT_TRUE(torch::allclose(direction_rows(features).norm(2, 1), torch::ones({5})));
}

}  // namespace
}  // namespace addp
