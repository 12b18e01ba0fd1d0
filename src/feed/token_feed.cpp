#include "feed/token_feed.h"

#include "base/error.h"
#include "base/file/file_io.h"
#include "data/source/fingerprint.h"
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
  feed.turn = tokens.turn;
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
TokenCacheLayout cache_layout(const TrainOptions& options, const TokenOptions& tokens,
                              const Grid& grid, const Vqgan& tokenizer) {
  return {.key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}{}", options.data, fingerprint(options.data),
                             options.size, tokens.crop, tokens.flip, tokens.views, options.seed,
                             sha256_of(tokenizer.codebook()), tokens.turn ? "|turn" : ""),
          .views = tokens.views,
          .positions = grid.area(),
          .codes = tokenizer.codebook().size(0)};
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
  const TokenCacheLayout layout = cache_layout(options_, token_options_, grid_, *tokenizer_);
  if (world.is_main() && !read_token_cache(path, layout)) {
    make_folder_for(path);
    write_token_cache(path, build_cache(), layout);
  }
  world.barrier();
  const auto saved = read_token_cache(path, layout);
  if (!saved) throw DataError("{}: was replaced by another run; name another file", path);
  cache_ = to_torch(saved->tokens);
  labels_ = to_torch(saved->labels);
  rows_ = CachedRows(feed_options_, cache_.size(0), token_options_.views, steps_per_epoch());
}

TokenCache TokenFeed::build_cache() const {
  torch::NoGradGuard guard;
  const std::int64_t count = feed_.dataset().size(), views = token_options_.views;
  const Tensor tokens = torch::zeros({count, views, grid_.area()}, torch::kInt32);
  const Tensor labels = torch::full({count}, -1, torch::kInt64);
  const Tensor filled = torch::zeros({count, views}, torch::kBool);
  PictureFeed all(feed_options_.for_passes());
  for (std::int64_t view = 0; view < views; ++view) {
    all.pass(fmt::format("tokenizing, crop {} of {}", view + 1, views),
             [&](const PictureBatch& batch) {
               const Tensor rows = torch::tensor(batch.indices);
               tokens.select(1, view).index_copy_(
                   0, rows, tokenizer_->encode(batch.pixels).to(torch::kCPU, torch::kInt32));
               labels.index_copy_(0, rows, batch.labels.cpu());
               filled.select(1, view).index_fill_(0, rows, 1);
             });
  }
  // A picture may be broken for some crops only, where a part of its bytes is left.
  const Tensor whole = filled.all(1).nonzero().flatten();
  if (whole.numel() == 0) throw DataError("{}: not one picture can be used", options_.data);
  return {to_view(tokens.index_select(0, whole)), to_view(labels.index_select(0, whole))};
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
