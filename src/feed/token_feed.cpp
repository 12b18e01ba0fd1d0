#include "feed/token_feed.h"

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "checkpoint/format/safetensors.h"
#include "machine/machine.h"
#include "model/load.h"
#include "nn/torch.h"

namespace addp {
namespace {

FeedOptions make_feed_options(const TrainOptions& options, const TokenOptions& tokens,
                              const World& world) {
  FeedOptions feed = FeedOptions::from(options, world);
  feed.crop = tokens.crop;
  feed.flip = tokens.flip;
  return feed;
}

Grid grid_for(const TrainOptions& options, const Vqgan& tokenizer) {
  if (options.size % tokenizer.factor() != 0) {
    throw UsageError(
        "--size {} is not a multiple of {}, the pixels under a token of this tokenizer",
        options.size, tokenizer.factor());
  }
  return {options.size / tokenizer.factor(), options.size / tokenizer.factor()};
}

// What the cached tokens depend on; a cache of anything else is made anew.
std::string cache_key(const TrainOptions& options, const TokenOptions& tokens, std::int64_t count,
                      const Vqgan& tokenizer) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", options.data, count, options.size, tokens.crop,
                     tokens.flip, tokens.views, options.seed, sha256_of(tokenizer.codebook()));
}

}  // namespace

TokenFeed::TokenFeed(const TrainOptions& options, const TokenOptions& tokens,
                     std::shared_ptr<const Vqgan> tokenizer, World& world)
    : options_(options),
      token_options_(tokens),
      tokenizer_(std::move(tokenizer)),
      grid_(grid_for(options, *tokenizer_)),
      feed_options_(make_feed_options(options, tokens, world)),
      feed_(feed_options_) {
  if (token_options_.views > 0) fill_cache(world);
}

void TokenFeed::fill_cache(World& world) {
  const auto path =
      token_options_.cache.empty() ? options_.out / "tokens.safetensors" : token_options_.cache;
  const std::string key = cache_key(options_, token_options_, feed_.dataset().size(), *tokenizer_);
  const auto matches = [&] {
    return std::filesystem::exists(path) && read_safetensors(path).metadata["key"] == key;
  };
  if (world.is_main() && !matches()) {
    if (path.has_parent_path()) make_folder(path.parent_path());
    build_cache();
    write_safetensors(path, {{"tokens", to_view(cache_)}, {"labels", to_view(labels_)}},
                      {{"key", key}});
  }
  world.barrier();
  const Safetensors saved = read_safetensors(path);
  cache_ = to_torch(saved.tensors.at("tokens"));
  labels_ = to_torch(saved.tensors.at("labels"));
  rows_ = CachedRows(feed_options_, cache_.size(0), token_options_.views, steps_per_epoch());
}

void TokenFeed::build_cache() {
  torch::NoGradGuard guard;
  const std::int64_t count = feed_.dataset().size();
  cache_ = torch::zeros({count, token_options_.views, grid_.area()}, torch::kInt32);
  labels_ = torch::full({count}, -1, torch::kInt64);
  Progress progress("tokenizing", count * token_options_.views, "pictures");
  FeedOptions options = feed_options_;
  options.batch = 64;
  options.parts = 1;
  options.rank = 0;
  options.world = 1;
  options.whole_epochs = true;
  PictureFeed all(options);
  for (std::int64_t view = 0; view < token_options_.views; ++view) {
    for (std::int64_t done = 0; done < count;) {
      const PictureBatch batch = all.next();
      const Tensor ids = tokenizer_->encode(batch.pixels).to(torch::kCPU, torch::kInt32);
      const Tensor labels = batch.labels.cpu();
      for (std::size_t i = 0; i < batch.indices.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i);
        cache_[batch.indices[i]][view].copy_(ids[row]);
        labels_[batch.indices[i]] = labels[row];
      }
      done += batch.pixels.size(0);
      progress.advance(batch.pixels.size(0));
    }
  }
}

std::int64_t TokenFeed::steps_per_epoch() const { return feed_.steps_per_epoch(); }

void TokenFeed::seek(std::int64_t step) {
  rows_.seek(step);
  if (!cache_.defined()) feed_.seek(step);
}

TokenBatch TokenFeed::next() {
  if (cache_.defined()) return next_cached();
  const PictureBatch batch = feed_.next();
  torch::NoGradGuard guard;
  return {tokenizer_->encode(batch.pixels), batch.labels};
}

TokenBatch TokenFeed::next_cached() {
  const CachedBatch batch = rows_.next();
  const Tensor pictures = torch::tensor(batch.pictures), views = torch::tensor(batch.views);
  return {cache_.flatten(0, 1)
              .index_select(0, pictures * token_options_.views + views)
              .to(compute_device(), torch::kInt64),
          labels_.index_select(0, pictures).to(compute_device())};
}

TokenBatch TokenFeed::validation(std::int64_t count) const {
  torch::NoGradGuard guard;
  return {tokenizer_->encode(feed_.validation_pictures(count)), {}};
}

}  // namespace addp
