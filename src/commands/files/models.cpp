#include "commands/files/models.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/named/find_model.h"
#include "checkpoint/named/model_card.h"
#include "report/table.h"

namespace addp {
namespace {

using nlohmann::json;

// A model with what its file and its card say.
struct Listed {
  NamedModel model;
  Recognition file;
  ModelCard card;
  CardModel entry;  // of the card
};

Listed look_at(const NamedModel& model) {
  Listed listed{model, recognise(open_checkpoint(model.file), {.count_non_finite = false}), {}, {}};
  if (auto card = read_model_card(model.file.parent_path())) {
    const auto entry = card->models.find(model.kind);
    if (entry != card->models.end()) listed.entry = entry->second;
    listed.card = std::move(*card);
  }
  return listed;
}

std::vector<Listed> list_models(const std::vector<std::string>& names) {
  std::vector<Listed> all;
  for (const std::string& name : names.empty() ? std::vector<std::string>{""} : names) {
    const auto found = named_models(name);
    if (found.empty() && !name.empty()) {
      throw UsageError("there is no model '{}'; 'addp models' lists those there are", name);
    }
    for (const NamedModel& model : found) all.push_back(look_at(model));
  }
  return all;
}

json to_json(const Listed& listed) {
  json figures = json::array();
  for (const CardFigure& figure : listed.entry.figures) {
    figures.push_back({{"name", figure.name},
                       {"value", figure.value},
                       {"on", figure.on},
                       {"command", figure.command}});
  }
  return {{"name", listed.model.name()},
          {"set", listed.model.set},
          {"kind", listed.file.kind},
          {"file", listed.model.file.string()},
          {"bytes", listed.file.file_bytes},
          {"parameters", listed.file.parameters},
          {"summary", listed.entry.summary},
          {"recipe", listed.entry.recipe},
          {"steps", listed.entry.steps},
          {"use", listed.entry.use},
          {"figures", figures},
          {"data", listed.card.data},
          {"credit", listed.card.credit},
          {"licence", listed.card.licence},
          {"not_for", listed.card.not_for}};
}

std::string figures_text(const std::vector<CardFigure>& figures) {
  std::vector<std::string> parts;
  for (const CardFigure& figure : figures) parts.push_back(figure.name + " " + figure.value);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string to_text(const std::vector<Listed>& all) {
  std::string text;
  for (std::size_t first = 0; first < all.size();) {
    const Listed& head = all[first];
    Table table{head.card.title.empty() ? head.model.set
                                        : fmt::format("{}: {}", head.model.set, head.card.title),
                {"model", "parameters", "file", "figures", "what it does"},
                {}};
    std::size_t next = first;
    for (; next < all.size() && all[next].model.set == head.model.set; ++next) {
      const Listed& one = all[next];
      table.rows.push_back({one.model.name(), format_count(one.file.parameters),
                            format_bytes(one.file.file_bytes), figures_text(one.entry.figures),
                            one.entry.summary});
    }
    text += table.to_text();
    if (!head.card.licence.empty()) {
      text += fmt::format("data: {}\ncredit: {}\nlicence: {}\nnot for: {}\n", head.card.data,
                          head.card.credit, head.card.licence, head.card.not_for);
    }
    text += fmt::format("folder: {}\n\n", head.model.file.parent_path());
    first = next;
  }
  return text;
}

std::string cards_of(const std::vector<std::string>& sets) {
  if (sets.empty())
    throw UsageError("--card needs the name of a set, as 'addp models cells --card'");
  std::string text;
  for (const std::string& set : sets) {
    for (const auto& folder : model_folders()) {
      const auto card = read_model_card(folder / set);
      if (!card) continue;
      text += card_markdown(set, *card);
      break;
    }
  }
  if (text.empty()) {
    throw UsageError("{}: has no card; 'addp models' lists the sets there are", sets.front());
  }
  return text;
}

}  // namespace

void run(const ModelsOptions& options, const RunContext& context) {
  if (options.card) {
    print_stdout(cards_of(options.names));
    return;
  }
  const std::vector<Listed> all = list_models(options.names);
  if (context.json) {
    json list = json::array();
    for (const Listed& one : all) list.push_back(to_json(one));
    print_stdout(json_text(list, 2) + "\n");
  } else if (all.empty()) {
    print_stdout(fmt::format("no models in {}\n", fmt::join(model_folders(), ", ")));
  } else {
    print_stdout(to_text(all));
  }
}

}  // namespace addp
