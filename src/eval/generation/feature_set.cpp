#include "eval/generation/feature_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "checkpoint/format/npy.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/format/zip_file.h"
#include "model/load.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr const char* kKind = "feature statistics";

const TensorView& find(const TensorMap& arrays, const char* name, std::size_t rank,
                       const std::string& file) {
  const auto found = arrays.find(name);
  if (found == arrays.end() || found->second.shape.size() != rank) {
    throw DataError(
        "{}: has no {}-dimensional array '{}'; statistics for FID hold 'mu' and 'sigma' as the "
        "usual tools write them",
        file, rank, name);
  }
  return found->second;
}

Tensor finite_tensor(const TensorView& view, const std::string& file) {
  const auto tensor = to_torch(view).to(torch::kFloat64);
  if (!tensor.isfinite().all().item<bool>()) {
    throw DataError("{}: holds a value that is not a finite number; make the statistics again",
                    file);
  }
  return tensor;
}

FeatureStatistics statistics_of(const TensorMap& arrays, std::int64_t count,
                                const std::string& file) {
  const auto mean = finite_tensor(find(arrays, "mu", 1, file), file);
  const auto covariance = finite_tensor(find(arrays, "sigma", 2, file), file);
  if (mean.size(0) < 1 || covariance.size(0) != mean.size(0) ||
      covariance.size(1) != mean.size(0)) {
    throw DataError("{}: 'mu' of {} and 'sigma' of {} do not belong together", file,
                    fmt::join(mean.sizes(), "x"), fmt::join(covariance.sizes(), "x"));
  }
  const double largest = covariance.abs().max().item<double>();
  const double asymmetry = (covariance - covariance.t()).abs().max().item<double>();
  if (covariance.diagonal().min().item<double>() < -1e-6 * largest || asymmetry > 1e-3 * largest) {
    throw DataError("{}: 'sigma' is no covariance (it has a negative variance or is lopsided)",
                    file);
  }
  return {mean, covariance, count};
}

std::int64_t parse_count(const std::string& text, const std::string& file) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 2) {
    throw DataError("{}: says it was made of '{}' pictures, which cannot be", file, text);
  }
  return count;
}

// Rows kept beside the statistics, if the file has them.
Tensor kept_rows(const Safetensors& stored, const char* name, const std::string& file) {
  if (!stored.tensors.contains(name)) return {};
  return finite_tensor(find(stored.tensors, name, 2, file), file);
}

// Row `slot` of a block of `most` rows, which is made for the first of them.
void put_row(Tensor& rows, std::int64_t slot, std::int64_t most, const Tensor& row) {
  if (!rows.defined()) rows = torch::empty({most, row.size(0)}, row.options().device(torch::kCPU));
  rows[slot].copy_(row);
}

}  // namespace

FeatureSet read_feature_set(const std::filesystem::path& path) {
  const std::string file = path.string();
  const auto map = std::make_shared<MappedFile>(path);
  if (ZipFile::looks_like_zip(map->bytes())) {
    return {
        statistics_of(parse_npz(map->bytes(), map, file), 0, file), {}, {}, {"", file, "unknown"}};
  }
  const Safetensors stored = parse_safetensors(map->bytes(), map, file);
  const auto text = [&](const char* key) {
    const auto found = stored.metadata.find(key);
    if (found == stored.metadata.end()) {
      throw DataError("{}: does not say its '{}', so it is not a file of feature statistics", file,
                      key);
    }
    return found->second;
  };
  if (text("kind") != kKind) throw DataError("{}: holds '{}', not {}", file, text("kind"), kKind);
  FeatureSet set{statistics_of(stored.tensors, parse_count(text("pictures"), file), file),
                 kept_rows(stored, "features", file),
                 kept_rows(stored, "logits", file),
                 {text("network"), text("source"), text("resize")}};
  if (set.features.defined() && set.features.size(1) != set.statistics.dimension()) {
    throw DataError("{}: its features have {} values, its statistics {}", file,
                    set.features.size(1), set.statistics.dimension());
  }
  return set;
}

void write_feature_set(const std::filesystem::path& path, const FeatureSet& set) {
  TensorMap arrays = {{"mu", to_view(set.statistics.mean())},
                      {"sigma", to_view(set.statistics.covariance())}};
  if (set.features.defined()) arrays["features"] = to_view(set.features);
  if (set.logits.defined()) arrays["logits"] = to_view(set.logits);
  write_safetensors(path, arrays,
                    {{"kind", kKind},
                     {"pictures", fmt::format("{}", set.statistics.count())},
                     {"network", set.provenance.network_hash},
                     {"source", set.provenance.source},
                     {"resize", set.provenance.resize}});
}

FeatureCollector::FeatureCollector(const InceptionNetwork& network, std::int64_t keep,
                                   FeatureProvenance provenance, std::uint64_t seed)
    : network_(network), keep_(keep), random_(seed, "feature sample") {
  set_.provenance = std::move(provenance);
  set_.provenance.network_hash = network.hash();
}

void FeatureCollector::add(const Tensor& pictures) { add(network_(pictures)); }

void FeatureCollector::add(std::span<const Image> pictures) { add(network_(pictures)); }

void FeatureCollector::add(const InceptionOutput& output) {
  set_.statistics.add(output.pool);
  for (std::int64_t i = 0; i < output.pool.size(0); ++i, ++seen_) {
    // The n-th picture replaces a kept one with probability keep / n.
    const std::int64_t slot = seen_ < keep_ ? seen_ : random_.integer(0, seen_);
    if (slot >= keep_) continue;
    put_row(kept_, slot, keep_, output.pool[i]);
    if (output.logits_unbiased.defined()) {
      put_row(kept_logits_, slot, keep_, output.logits_unbiased[i]);
    }
  }
}

FeatureSet FeatureCollector::finish() && {
  const std::int64_t count = std::min(seen_, keep_);
  if (kept_.defined()) set_.features = kept_.slice(0, 0, count).clone();
  if (kept_logits_.defined()) set_.logits = kept_logits_.slice(0, 0, count).clone();
  return std::move(set_);
}

}  // namespace addp
