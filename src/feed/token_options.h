// What the predictor's and ADDP's training have in common: the frozen tokenizer, how pictures
// become tokens, and the size of a transformer. Free of libtorch.
#pragma once

#include <filesystem>
#include <string>

#include "base/option/options.h"

namespace addp {

struct TokenOptions {
  std::filesystem::path tokenizer;
  double crop = 0.2;
  bool flip = true;
  bool turn = false;
  std::int64_t views = 0;
  std::filesystem::path cache;
  bool class_conditional = false;
  double class_drop = 0.1;

  void describe(Options& o) {
    o.advanced_group("Tokens");
    o.add("tokenizer", tokenizer,
          "the frozen tokenizer: a folder that 'addp train tokenizer' wrote, or a file")
        .required();
    o.add("crop", crop, "smallest share of a picture's area in a random crop; 1: none")
        .range(0.01, 1);
    o.add("flip", flip, "mirror half of the pictures");
    o.add("turn", turn,
          "also turn pictures by quarter turns: for pictures without an up, as of microscopes");
    o.add("token-views", views,
          "crops of each picture that are tokenized once and kept; 0: every picture is tokenized "
          "anew each time, as in the paper")
        .range(0, 1000)
        .common();
    o.add("token-cache", cache,
          "where they are kept, for all stages with the same data and tokenizer; "
          "OUT/tokens.safetensors where none is named")
        .metavar("FILE");
    o.add("class-conditional", class_conditional,
          "also learn what class a picture has, for 'addp generate --class' (not in the paper)")
        .common();
    o.add("class-drop", class_drop, "share of the pictures whose class is kept from the network")
        .range(0, 1);
  }
};

// A size by name, parts of which can be set apart.
struct TransformerOptions {
  std::string preset = "base";
  std::int64_t width = 0, depth = 0, heads = 0;
  std::int64_t decoder_width = 0, decoder_depth = 0, decoder_heads = 0;
  double dropout = 0.1;
  std::filesystem::path start;

  void describe(Options& o) {
    o.advanced_group("Network");
    o.add(
         "start", start,
         "a trained network of these sizes to go on from (a name, a folder, a file); empty: random "
         "weights")
        .common();
    o.add("preset", preset, "size by name: nano, tiny, small, base, large")
        .metavar("NAME")
        .common();
    o.add("width", width, "of the encoder; 0: the preset's, as for the next ones").range(0, 8192);
    o.add("depth", depth, "blocks of the encoder").range(0, 256);
    o.add("heads", heads, "attention heads of the encoder").range(0, 256);
    o.add("decoder-width", decoder_width, "of the decoder").range(0, 8192);
    o.add("decoder-depth", decoder_depth, "blocks of the decoder").range(0, 256);
    o.add("decoder-heads", decoder_heads, "attention heads of the decoder").range(0, 256);
    o.add("dropout", dropout, "while training").range(0, 0.99);
  }
};

}  // namespace addp
