// What a reproduction is made with: the scale, the data and ready models, and what follows from
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reproduce/plan/scale.h"

namespace addp {

struct Setting {
  Scale scale;
  std::string data;                        // classes
  std::string dense, maps;                 // boxes with masks; label maps; empty: none
  std::string tokenizer, predictor, addp;  // ready ones; empty: trained
  std::int64_t seeds = 2;
  double length = 1;         // of every training, over the scale's
  std::int64_t samples = 0;  // of a FID; 0: the scale's
  std::string as = "png";    // the format as which these are compared

  // What was found in the data.
  std::int64_t pictures = 0, held_out = 0;  // of `data`
  bool classes = false;
  std::int64_t dense_pictures = 0, map_pictures = 0;
  std::string held_out_split = "val";
  bool fid = true;  // its network is at hand
};

// Opens what the first fields name and fills in what was found. A DataError where --data
// cannot be used at all; what is missing for a part of the studies only is left out of them.
void look_at_data(Setting& setting);

}  // namespace addp
