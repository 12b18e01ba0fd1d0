#include "checkpoint/named/model_card.h"

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <set>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/run/progress.h"

namespace addp {
namespace {

constexpr std::uint64_t kMaxCardBytes = std::uint64_t{1} << 20;

// A table whose keys are all asked for: one that nobody asked for is a mistake in the card.
class CardTable {
 public:
  CardTable(const toml::table& table, std::string source)
      : table_(table), source_(std::move(source)) {}

  std::string text(const char* key, bool needed) {
    const toml::node* node = take(key, needed);
    if (node == nullptr) return {};
    const auto value = node->value<std::string>();
    if (!value || (needed && value->empty())) wrong(*node, key, "a text");
    return *value;
  }

  std::int64_t number(const char* key) {
    const toml::node* node = take(key, false);
    if (node == nullptr) return 0;
    const auto* value = node->as_integer();
    if (value == nullptr) wrong(*node, key, "a whole number");
    return value->get();
  }

  const toml::array* list(const char* key) {
    const toml::node* node = take(key, false);
    if (node != nullptr && !node->is_array()) wrong(*node, key, "a list of tables");
    return node == nullptr ? nullptr : node->as_array();
  }

  // What was not asked for by name: tables, or mistakes.
  template <class Visit>
  void rest(const Visit& visit) {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (!taken_.contains(name)) visit(name, node);
    }
  }

  void finish() {
    rest([&](const std::string& name, const toml::node& node) {
      throw DataError("{}:{}: '{}' is no key of a card; see the other cards", source_,
                      node.source().begin.line, name);
    });
  }

  [[noreturn]] void wrong(const toml::node& node, const std::string& key, const char* what) const {
    throw DataError("{}:{}: '{}' is not {}", source_, node.source().begin.line, key, what);
  }

 private:
  const toml::node* take(const char* key, bool needed) {
    taken_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && needed) {
      throw DataError("{}:{}: there is no '{}'; add it", source_, table_.source().begin.line, key);
    }
    return node;
  }

  const toml::table& table_;
  std::string source_;
  std::set<std::string> taken_;
};

CardFigure parse_figure(const toml::node& node, const std::string& source) {
  if (!node.is_table()) {
    throw DataError("{}:{}: a figure is {{name, value, on, command}}", source,
                    node.source().begin.line);
  }
  CardTable table(*node.as_table(), source);
  CardFigure figure{table.text("name", true), table.text("value", true), table.text("on", true),
                    table.text("command", true)};
  table.finish();
  return figure;
}

CardModel parse_model(const toml::table& given, const std::string& source) {
  CardTable table(given, source);
  CardModel model;
  model.summary = table.text("summary", true);
  model.recipe = table.text("recipe", true);
  model.steps = table.number("steps");
  model.time = table.text("time", false);
  model.use = table.text("use", false);
  if (const toml::array* figures = table.list("figures")) {
    for (const auto& figure : *figures) model.figures.push_back(parse_figure(figure, source));
  }
  table.finish();
  return model;
}

std::string model_markdown(const std::string& kind, const CardModel& model) {
  std::string text =
      fmt::format("\n## {}\n\n{}\n\nRecipe: `{}`", kind, model.summary, model.recipe);
  if (model.steps > 0) {
    text += fmt::format(", {} steps", format_count(static_cast<std::uint64_t>(model.steps)));
  }
  if (!model.time.empty()) text += ", " + model.time;
  text += ".\n";
  if (!model.use.empty()) text += fmt::format("\n    {}\n", model.use);
  if (model.figures.empty()) return text;
  text += "\n| figure | value | on | measured by |\n|---|---|---|---|\n";
  for (const CardFigure& figure : model.figures) {
    text += fmt::format("| {} | {} | {} | `{}` |\n", figure.name, figure.value, figure.on,
                        figure.command);
  }
  return text;
}

}  // namespace

ModelCard parse_model_card(std::string_view text, const std::string& source) {
  toml::table parsed;
  try {
    parsed = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw DataError("{}:{}: is not valid TOML: {}", source, error.source().begin.line,
                    error.description());
  }
  CardTable table(parsed, source);
  ModelCard card;
  card.title = table.text("title", true);
  card.text = table.text("text", false);
  card.data = table.text("data", true);
  card.credit = table.text("credit", true);
  card.licence = table.text("licence", true);
  card.not_for = table.text("not-for", true);
  table.rest([&](const std::string& kind, const toml::node& node) {
    if (!node.is_table()) table.wrong(node, kind, "a key of a card");
    card.models[kind] = parse_model(*node.as_table(), source);
  });
  return card;
}

std::optional<ModelCard> read_model_card(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "card.toml";
  if (!std::filesystem::exists(file)) return std::nullopt;
  return parse_model_card(read_text_file(file, kMaxCardBytes), file.string());
}

std::string card_markdown(const std::string& set, const ModelCard& card) {
  std::string text = fmt::format("# {}: {}\n", set, card.title);
  if (!card.text.empty()) text += fmt::format("\n{}\n", card.text);
  text += fmt::format("\n- Data: {}\n- Credit: {}\n- Licence: {}\n- Not for: {}\n", card.data,
                      card.credit, card.licence, card.not_for);
  for (const auto& [kind, model] : card.models) text += model_markdown(kind, model);
  return text +
         fmt::format("\nThis page is `addp models {} --card` of card.toml beside it.\n", set);
}

}  // namespace addp
