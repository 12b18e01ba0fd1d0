// Class-conditional training: the class position holds the picture's class, except for a random
// share of the pictures, so that the network also learns to do without (Ho and Salimans 2022).
#pragma once

#include <string>

#include "base/random.h"
#include "data/set/dataset.h"
#include "feed/token_options.h"
#include "nn/layer/vocabulary.h"
#include "nn/types.h"
#include "tokenizer/vqgan.h"

namespace addp {

// The tokenizer's codes and the ids that classes need: one per class and one for "no class" where
// training is conditional (a UsageError for a set without classes), else `unconditional_ids`.
Vocabulary vocabulary_for(const Vqgan& tokenizer, const TokenOptions& options,
                          const Dataset& dataset, std::int64_t unconditional_ids);

// labels [B], -1: none -> ids [B]; undefined where training is not conditional or there are no
// labels. Sample i is dropped by a stream of its own, the one of number `first` + i; without a
// stream none is.
Tensor class_ids_of(const Tensor& labels, const Vocabulary& vocabulary, const TokenOptions& options,
                    const RandomStream* stream, std::int64_t first);

// `provenance` (JSON text) with the names of the classes, which `addp generate --class` takes.
std::string with_class_names(const std::string& provenance, const TokenOptions& options,
                             const Dataset& dataset);

}  // namespace addp
