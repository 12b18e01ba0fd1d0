// Classifiers from and to files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "heads/classify/classifier.h"

namespace addp {

// A trained classifier, ours or one in MAE's layout. `heads` above 0 replaces the guess for a
// foreign file of unusual width.
std::shared_ptr<Classifier> load_classifier(const std::filesystem::path& path,
                                            std::int64_t heads = 0);
// With its tokenizer inside, where it has one.
void save_classifier(const std::filesystem::path& path, const Classifier& classifier,
                     const std::string& provenance);

}  // namespace addp
