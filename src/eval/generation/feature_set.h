// The features of a set of pictures: collected in bounded memory, stored beside the pictures'
// data, read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/random.h"
#include "eval/generation/generation_metrics.h"
#include "eval/generation/inception.h"
#include "image/image.h"

namespace addp {

// Where features came from; stored with them and printed beside the figures.
struct FeatureProvenance {
  std::string network_hash;  // SHA-256 of its file; empty where a foreign file does not say
  std::string source;        // what the pictures were
  std::string resize;        // what was done to them before the network
};

struct FeatureSet {
  FeatureStatistics statistics;  // over all pictures
  // [kept, 2048], an even sample of at most the number asked for; undefined where none are kept.
  Tensor features;
  Tensor logits;  // [kept, 1008] of the same pictures; undefined without the network's `fc`
  FeatureProvenance provenance;
};

// Our own cache (.safetensors) or the usual tools' `.npz` with `mu` and `sigma`;
// recognised by content.
FeatureSet read_feature_set(const std::filesystem::path& path);
void write_feature_set(const std::filesystem::path& path, const FeatureSet& set);

// Feeds pictures to the network as they come. Keeps statistics of all of them and a uniform
// sample of `keep` feature vectors (reservoir sampling: Vitter 1985), so that memory does not
// grow with their number.
class FeatureCollector {
 public:
  FeatureCollector(const InceptionNetwork& network, std::int64_t keep, FeatureProvenance provenance,
                   std::uint64_t seed = 0);

  void add(const Tensor& pictures);           // uint8 [B, 3, H, W]
  void add(std::span<const Image> pictures);  // of any sizes
  std::int64_t count() const { return seen_; }
  FeatureSet finish() &&;

 private:
  void add(const InceptionOutput& output);

  const InceptionNetwork& network_;
  std::int64_t keep_, seen_ = 0;
  RandomStream random_;
  FeatureSet set_;
  // One block each: thousands of small ones among the network's large ones would tear the heap.
  Tensor kept_, kept_logits_;
};

}  // namespace addp
