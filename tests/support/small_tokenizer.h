// A tokenizer that costs next to nothing: tokens of 8 pixels, 32 codes.
#pragma once

#include "tokenizer/vqgan_config.h"

namespace addp::testing {

inline VqganConfig small_tokenizer() {
  return {.channels = 8,
          .multipliers = {1, 1},
          .blocks = 1,
          .codes = 32,
          .code_width = 4,
          .stem = 4,
          .unit_codes = true,
          .input_shortcut = true};
}

}  // namespace addp::testing
