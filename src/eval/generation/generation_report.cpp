#include "eval/generation/generation_report.h"

#include <algorithm>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

bool has_rows(const FeatureSet& set, std::int64_t least) {
  return set.features.defined() && set.features.size(0) >= least;
}

double distance(const Tensor& a, const Tensor& b) {
  if (std::min(a.size(0), b.size(0)) < a.size(1)) return frechet_distance(a, b);
  FeatureStatistics first, second;
  first.add(a);
  second.add(b);
  return frechet_distance(first, second);
}

// Whether the rows kept are all there were.
bool is_whole(const FeatureSet& set) {
  return set.features.defined() && set.features.size(0) == set.statistics.count();
}

double distance(const FeatureSet& a, const FeatureSet& b) {
  if (is_whole(a) && is_whole(b) && a.features.size(1) == b.features.size(1) &&
      std::min(a.features.size(0), b.features.size(0)) >= 2) {
    return distance(a.features, b.features);
  }
  return frechet_distance(a.statistics, b.statistics);
}

double distance_to_itself(const Tensor& features, std::uint64_t seed) {
  const auto order = RandomStream(seed, "halves").permutation(features.size(0));
  const auto shuffled = features.index_select(0, torch::tensor(order, torch::kLong));
  const std::int64_t half = features.size(0) / 2;
  return distance(shuffled.slice(0, 0, half), shuffled.slice(0, half, 2 * half));
}

void check_networks(const FeatureSet& generated, const FeatureSet& reference) {
  const std::string &a = generated.provenance.network_hash, &b = reference.provenance.network_hash;
  if (a.empty() || b.empty() || a == b) return;
  throw UsageError(
      "the features of {} and of {} come from two different networks ({} and {}): compute "
      "one of them again",
      generated.provenance.source, reference.provenance.source, a, b);
}

std::string describe(const char* role, const FeatureSet& set) {
  const auto count = set.statistics.count();
  return fmt::format("{}: {}, {} pictures, resize: {}", role, set.provenance.source,
                     count == 0 ? "an unknown number of" : fmt::format("{}", count),
                     set.provenance.resize);
}

// 0 where neither set says how many pictures it is of.
std::int64_t fewest_known(const FeatureSet& generated, const FeatureSet& reference) {
  const std::int64_t a = generated.statistics.count(), b = reference.statistics.count();
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

std::vector<std::string> protocol_of(const FeatureSet& generated, const FeatureSet& reference,
                                     const GenerationFigures& figures,
                                     const GenerationOptions& options) {
  std::vector<std::string> lines;
  const std::string& hash = generated.provenance.network_hash;
  lines.push_back(
      fmt::format("network: FID Inception v3 (2015-12-05), SHA-256 {}; TensorFlow 1 bilinear "
                  "resize to {}, {} features, float64 statistics",
                  hash.empty() ? "unknown" : hash, kInceptionSide,
                  hash.ends_with("+bf16") ? "bfloat16" : "float32"));
  lines.push_back(describe("generated", generated));
  lines.push_back(describe("reference", reference));
  if (reference.provenance.network_hash.empty()) {
    lines.push_back(
        "the reference does not say its network: that it is the same is taken on trust");
  }
  if (figures.manifold) {
    lines.push_back(
        fmt::format("precision and recall: k = {}, {} generated and {} reference features",
                    options.neighbours, generated.features.size(0), reference.features.size(0)));
  }
  if (figures.kid) {
    lines.push_back(fmt::format(
        "KID: unbiased, kernel (x.y/{} + 1)^3, "
        "one value over {} generated and {} reference features",
        generated.features.size(1), generated.features.size(0), reference.features.size(0)));
  }
  const std::int64_t fewest = fewest_known(generated, reference);
  if (fewest > 0 && fewest < kUnbiasedPictures) {
    std::string line = fmt::format("FID of {} pictures is biased upwards (at least {} are usual)",
                                   fewest, kUnbiasedPictures);
    if (figures.reference_to_itself) {
      line +=
          fmt::format("; two random halves of the reference, {} pictures each, differ by {:.2f}",
                      figures.half_size, *figures.reference_to_itself);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

GenerationFigures compare_sets(const FeatureSet& generated, const FeatureSet& reference,
                               const GenerationOptions& options) {
  check_networks(generated, reference);
  GenerationFigures figures;
  figures.fid = distance(generated, reference);
  if (has_rows(generated, 2) && has_rows(reference, 2)) {
    figures.kid = kernel_distance(generated.features, reference.features);
  }
  const std::int64_t least = options.neighbours + 1;
  if (has_rows(generated, least) && has_rows(reference, least)) {
    figures.manifold = precision_recall(reference.features, generated.features, options.neighbours);
  }
  if (has_rows(reference, 4)) {
    figures.half_size = reference.features.size(0) / 2;
    figures.reference_to_itself = distance_to_itself(reference.features, options.seed);
  }
  figures.protocol = protocol_of(generated, reference, figures, options);
  return figures;
}

MeanDeviation inception_score_of(const FeatureSet& generated, std::int64_t splits) {
  if (!generated.logits.defined()) {
    throw UsageError(
        "the Inception Score needs the network's classifier, and the network's file has no "
        "fc.weight and fc.bias: give a file that has them, or leave the score out");
  }
  return inception_score(generated.logits, splits);
}

}  // namespace addp
