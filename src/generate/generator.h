// A model that makes pictures, by number: ADDP (Algorithm 2), or a token predictor by itself
// (MAGE). Picture i of a seed is the same whatever it is made together with.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file/sha256.h"
#include "generate/sampler.h"
#include "model/model_file.h"

namespace addp {

// Which pictures, and how.
struct GenerationPlan {
  std::uint64_t seed = 0;
  std::int64_t first = 0, count = 1;
  std::int64_t batch = 16;
  std::int64_t label = -1;     // class number, for class-conditional models; -1: none
  bool bf16 = false;           // products and convolutions in bfloat16
  std::optional<Grid> grid{};  // of tokens; none: the model's own
  SamplerOptions sampler;
};

// One picture of a batch that is made for several askers.
struct PictureAsk {
  PictureStream stream;
  std::int64_t label = -1;  // class number; -1: none
};

// Of a tokenizer that will only decode in bfloat16. Its encoder stays: pictures to edit are read in
// float32.
void keep_decoder_in_bf16(Vqgan& tokenizer);

class Generator {
 public:
  // What `addp train addp` or `addp train predictor` wrote, or a published checkpoint. The
  // tokenizer inside is used unless `tokenizer` names another; a DataError where there is none.
  static Generator open(const std::filesystem::path& model,
                        const std::filesystem::path& tokenizer = {});
  // The same for one thread that samples in bfloat16 alone, or in float32 alone: less memory.
  static Generator open_for(bool bf16, const std::filesystem::path& model,
                            const std::filesystem::path& tokenizer = {});

  // It will make pictures, and read none: less memory again.
  void only_make() { tokenizer_->forget_encoder(); }

  bool for_bf16() const { return only_bf16_.value_or(false); }

  bool is_addp() const { return addp_ != nullptr; }
  bool can_be_fast() const { return addp_ != nullptr && addp_->bypass() != nullptr; }
  // A UsageError where the options make no sense, or ask for what this model cannot do.
  void check(const SamplerOptions& sampler) const;
  Addp& addp() const { return *addp_; }
  const Vqgan& tokenizer() const { return *tokenizer_; }
  const std::string& source() const { return source_; }
  // The file of a tokenizer that is not inside the model's; empty: it is.
  const std::string& tokenizer_source() const { return tokenizer_source_; }
  // SHA-256 of these two files, computed when first asked for.
  const std::string& source_digest() const { return source_digest_.hex(); }
  const std::string& tokenizer_digest() const { return tokenizer_digest_.hex(); }
  const Grid& grid() const;
  int width() const;  // of the pictures, in pixels
  int height() const;
  // The tokens of pictures of another size: position embeddings are interpolated, so that the
  // sides may be any multiples of the pixels of a token. 0: the model's own; else a UsageError.
  Grid grid_of(std::int64_t width, std::int64_t height) const;
  // The same of "128x64", or "96" for a square; empty: the model's own.
  Grid grid_of(const std::string& size) const;
  // Names of the classes that the model can be asked for; empty: it knows none.
  const std::vector<std::string>& class_names() const { return class_names_; }
  // The number of a class by name or number; a UsageError lists what there is.
  std::int64_t find_class(const std::string& name) const;
  // Puts a class into the plan; an empty name asks for none, and then guidance is a UsageError.
  void ask_for(const std::string& class_name, double guidance, GenerationPlan& plan) const;

  // One batch: the pictures with these numbers.
  Samples sample(const std::vector<std::uint64_t>& pictures, const GenerationPlan& plan,
                 const SamplerHooks& hooks = {}) const;
  // The same from a start that the caller made; every picture has its number.
  Samples complete(SamplerStart start, const std::vector<std::uint64_t>& pictures,
                   const GenerationPlan& plan, const SamplerHooks& hooks = {}) const;
  // One batch of pictures with seeds and classes of their own, which are not taken from the plan;
  // all of them name a class, or none.
  Samples sample_asked(const std::vector<PictureAsk>& pictures, const GenerationPlan& plan,
                       const SamplerHooks& hooks = {}) const;
  // All pictures of a plan in order, batch by batch: `sink(first number, pixels)`.
  void sample_all(const GenerationPlan& plan,
                  const std::function<void(std::int64_t, const Tensor&)>& sink,
                  const SamplerHooks& hooks = {}) const;

 private:
  Samples run(const SamplerStart& start, SamplerNoise& noise, const GenerationPlan& plan,
              const SamplerHooks& hooks) const;
  const Vocabulary& vocabulary() const;
  void keep_in_bf16();

  std::string source_, tokenizer_source_;
  FileDigest source_digest_, tokenizer_digest_;
  std::shared_ptr<Addp> addp_;
  std::shared_ptr<Mage> predictor_;
  std::shared_ptr<Vqgan> tokenizer_;
  std::vector<std::string> class_names_;
  std::optional<bool> only_bf16_;  // opened for one precision: is it bfloat16?
};

}  // namespace addp
