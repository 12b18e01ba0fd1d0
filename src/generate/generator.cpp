#include "generate/generator.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

#include "base/error.h"
#include "diffusion/addp_file.h"
#include "machine/precision.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/layer/layers.h"
#include "nn/torch.h"

namespace addp {
namespace {

std::vector<std::string> stored_class_names(const nlohmann::json& provenance) {
  const auto found = provenance.find("classes");
  if (found == provenance.end() || !found->is_array()) return {};
  std::vector<std::string> names;
  for (const auto& name : *found) names.push_back(name.is_string() ? name.get<std::string>() : "?");
  return names;
}

}  // namespace

Generator Generator::open(const std::filesystem::path& model,
                          const std::filesystem::path& tokenizer) {
  Generator generator;
  const ModelFile file = open_model(model, {"addp", "predictor"});
  generator.source_ = file.source;
  generator.source_digest_ = FileDigest(file.source);
  require_kind(file, {"addp", "predictor"});
  // Among published checkpoints, only ADDP has positions for masked tokens of its own.
  const bool predictor =
      file.foreign() ? !file.tensors.contains("decoder_pos_mask_embed") : file.kind == "predictor";
  if (tokenizer.empty()) {
    generator.tokenizer_ = tokenizer_in(file);
  } else {
    const ModelFile codes = open_model(tokenizer, {"tokenizer", "predictor", "addp"});
    generator.tokenizer_ = load_tokenizer(codes);
    generator.tokenizer_source_ = codes.source;
    generator.tokenizer_digest_ = FileDigest(codes.source);
  }
  if (!generator.tokenizer_) {
    throw UsageError("{}: has no tokenizer inside; name one with --tokenizer", file.source);
  }
  if (predictor) {
    generator.predictor_ = load_predictor(file);
    require_codes(generator.predictor_->config().vocabulary, *generator.tokenizer_, file.source);
  } else {
    generator.addp_ = load_addp(file, generator.tokenizer_).network;
  }
  generator.class_names_ = stored_class_names(file.provenance);
  return generator;
}

Generator Generator::open_for(bool bf16, const std::filesystem::path& model,
                              const std::filesystem::path& tokenizer) {
  Generator generator = open(model, tokenizer);
  generator.only_bf16_ = bf16;
  if (bf16) generator.keep_in_bf16();
  return generator;
}

void keep_decoder_in_bf16(Vqgan& tokenizer) {
  keep_weights_in_bf16(*tokenizer.named_children()["decoder"]);
}

void Generator::keep_in_bf16() {
  keep_decoder_in_bf16(*tokenizer_);
  if (addp_) keep_weights_in_bf16(*addp_);
  if (predictor_) keep_weights_in_bf16(*predictor_);
}

const Grid& Generator::grid() const {
  return addp_ ? addp_->config().grid : predictor_->config().grid;
}

int Generator::width() const { return static_cast<int>(grid().width * tokenizer_->factor()); }
int Generator::height() const { return static_cast<int>(grid().height * tokenizer_->factor()); }

Grid Generator::grid_of(std::int64_t width, std::int64_t height) const {
  if (width == 0 && height == 0) return grid();
  const std::int64_t pixels = tokenizer_->factor();
  if (width < pixels || height < pixels || width % pixels != 0 || height % pixels != 0) {
    throw UsageError(
        "pictures of {}x{} pixels cannot be made of tokens of {}: give multiples of {}", width,
        height, pixels, pixels);
  }
  return {.height = height / pixels, .width = width / pixels};
}

Grid Generator::grid_of(const std::string& size) const {
  if (size.empty()) return grid();
  constexpr std::int64_t kLargest = 8192;
  const auto number = [&](std::string_view part) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 1 || value > kLargest) {
      throw UsageError("size '{}': give the width and the height in pixels, as 128x64", size);
    }
    return value;
  };
  const std::string_view whole = size;
  const std::size_t cross = whole.find('x');
  if (cross == std::string_view::npos) return grid_of(number(whole), number(whole));
  return grid_of(number(whole.substr(0, cross)), number(whole.substr(cross + 1)));
}

void Generator::check(const SamplerOptions& sampler) const {
  addp::check(sampler);
  if (!sampler.fast || can_be_fast()) return;
  if (!addp_) {
    throw UsageError(
        "{}: a token predictor decodes once in any case; omit --fast, or give an ADDP model",
        source_);
  }
  throw UsageError(
      "{}: cannot sample with --fast yet; 'addp distil --model {} --out PREPARED' prepares it",
      source_, source_);
}

std::int64_t Generator::find_class(const std::string& name) const {
  if (class_names_.empty()) {
    throw UsageError(
        "{}: was trained without classes; omit --class, or train with --class-conditional",
        source_);
  }
  const auto found = std::find(class_names_.begin(), class_names_.end(), name);
  if (found != class_names_.end()) return found - class_names_.begin();
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size() && number >= 0 &&
      number < static_cast<std::int64_t>(class_names_.size())) {
    return number;
  }
  throw UsageError("there is no class '{}'; the model knows {}", name,
                   fmt::join(class_names_, ", "));
}

void Generator::ask_for(const std::string& class_name, double guidance,
                        GenerationPlan& plan) const {
  if (class_name.empty()) {
    if (guidance != 1) throw UsageError("guidance {} is towards a class: name one", guidance);
    return;
  }
  plan.label = find_class(class_name);
  plan.sampler.guidance = guidance;
}

Samples Generator::sample(const std::vector<std::uint64_t>& pictures, const GenerationPlan& plan,
                          const SamplerHooks& hooks) const {
  return complete(
      SamplerStart::nothing(static_cast<std::int64_t>(pictures.size()), plan.grid.value_or(grid())),
      pictures, plan, hooks);
}

const Vocabulary& Generator::vocabulary() const {
  return addp_ ? addp_->config().vocabulary : predictor_->config().vocabulary;
}

Samples Generator::run(const SamplerStart& start, SamplerNoise& noise, const GenerationPlan& plan,
                       const SamplerHooks& hooks) const {
  check(plan.sampler);
  if (only_bf16_.value_or(plan.bf16) != plan.bf16) {
    throw std::logic_error("a generator is asked for a precision that it was not opened for");
  }
  const Bf16Scope scope(plan.bf16);
  const FrozenWeights frozen(/*lend=*/only_bf16_.has_value());
  return addp_ ? generate(*addp_, *tokenizer_, start, plan.sampler, noise, hooks)
               : sample_predictor(*predictor_, *tokenizer_, start, plan.sampler, noise, hooks);
}

Samples Generator::complete(SamplerStart start, const std::vector<std::uint64_t>& pictures,
                            const GenerationPlan& plan, const SamplerHooks& hooks) const {
  StreamNoise noise(plan.seed, pictures);
  if (plan.label >= 0) {
    start.classes = torch::full({start.tokens.size(0)}, vocabulary().class_id(plan.label),
                                start.tokens.options());
  }
  return run(start, noise, plan, hooks);
}

Samples Generator::sample_asked(const std::vector<PictureAsk>& pictures, const GenerationPlan& plan,
                                const SamplerHooks& hooks) const {
  std::vector<PictureStream> streams;
  std::vector<std::int64_t> classes;
  for (const PictureAsk& picture : pictures) {
    streams.push_back(picture.stream);
    if (picture.label >= 0) classes.push_back(vocabulary().class_id(picture.label));
  }
  auto start =
      SamplerStart::nothing(static_cast<std::int64_t>(pictures.size()), plan.grid.value_or(grid()));
  if (!classes.empty()) {
    if (classes.size() != pictures.size()) {
      throw UsageError("of the pictures of a batch, all name a class or none does");
    }
    start.classes = torch::tensor(classes, torch::kInt64).to(start.tokens.device());
  }
  StreamNoise noise(std::move(streams));
  return run(start, noise, plan, hooks);
}

void Generator::sample_all(const GenerationPlan& plan,
                           const std::function<void(std::int64_t, const Tensor&)>& sink,
                           const SamplerHooks& hooks) const {
  const FrozenWeights frozen(/*lend=*/only_bf16_.has_value());  // laid out once for all batches
  for (std::int64_t done = 0; done < plan.count; done += plan.batch) {
    std::vector<std::uint64_t> numbers(
        static_cast<std::size_t>(std::min(plan.batch, plan.count - done)));
    std::iota(numbers.begin(), numbers.end(), static_cast<std::uint64_t>(plan.first + done));
    sink(plan.first + done, sample(numbers, plan, hooks).pixels);
  }
}

}  // namespace addp
