// The card of a set of models: what it was trained on, under which licence, how, and how well it
// does. It is written once, as card.toml; `addp models` reads it, and the set's README.md is
// card_markdown() of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace addp {

struct CardFigure {
  std::string name, value;  // "FID", "28.1"
  std::string on;           // what it was measured on
  std::string command;      // what measured it
};

struct CardModel {
  std::string summary;
  std::string recipe;      // the configuration file
  std::int64_t steps = 0;  // of the training
  std::string time;        // that the training took, and on what
  std::string use;         // a command to try
  std::vector<CardFigure> figures;
};

struct ModelCard {
  std::string title, text;
  std::string data, credit, licence;
  std::string not_for;                      // what it must not be used for
  std::map<std::string, CardModel> models;  // by kind
};

// FOLDER/card.toml; nothing where there is none. A DataError names the file and the key that is
// missing, unknown or of a wrong type.
std::optional<ModelCard> read_model_card(const std::filesystem::path& folder);
ModelCard parse_model_card(std::string_view toml, const std::string& source);

// README.md of a set with this card.
std::string card_markdown(const std::string& set, const ModelCard& card);

}  // namespace addp
