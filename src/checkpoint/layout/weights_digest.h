// What tells one trained model from another, whatever else its file says.
#pragma once

#include <filesystem>
#include <string>

namespace addp {

// SHA-256 of a model's sizes and weights. Where it was trained, and what `addp distil` adds for
// fast sampling, makes no other model of it. Of a file that is not ours: of all its bytes.
std::string weights_digest(const std::filesystem::path& file);

}  // namespace addp
