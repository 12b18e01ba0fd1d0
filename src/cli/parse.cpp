#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/error.h"

namespace addp {
namespace {

// MAE's snake_case flags: --batch_size counts as --batch-size. Values stay as they are.
std::string kebab_flag(const std::string& argument) {
  if (!argument.starts_with("--")) return argument;
  const std::size_t equals = argument.find('=');
  return "--" + normalise_option_name(argument.substr(2, equals - 2)) +
         (equals == std::string::npos ? "" : argument.substr(equals));
}

std::string flag_names(const Option& option) {
  std::string names = "--" + option.name();
  for (const auto& alias : option.aliases()) names += (alias.size() == 1 ? ",-" : ",--") + alias;
  if (option.is_flag()) names += ",!--no-" + option.name();
  return names;
}

using Values = std::map<Option*, std::vector<std::string>>;

void declare(CLI::App& app, Option& option, Values& values) {
  if (option.is_positional()) return;  // collected from what is left over
  if (option.is_flag()) {
    app.add_flag_function(flag_names(option), [&](std::int64_t count) {
      values[&option] = {count > 0 ? "true" : "false"};
    });
    return;
  }
  CLI::Option* flag = app.add_option(flag_names(option), [&](const CLI::results_t& given) {
    values[&option] = given;
    return true;
  });
  flag->expected(1)->allow_extra_args(false);
  flag->multi_option_policy(option.is_list() ? CLI::MultiOptionPolicy::TakeAll
                                             : CLI::MultiOptionPolicy::TakeLast);
}

std::vector<std::string> flag_candidates(const Options& options) {
  std::vector<std::string> names;
  for (const auto& option : options.all()) {
    if (!option.is_positional()) names.push_back("--" + option.name());
  }
  return names;
}

[[noreturn]] void refuse(const std::string& argument, const Options& options) {
  const std::string flag = argument.substr(0, argument.find('='));
  const auto near = nearest_name(flag, flag_candidates(options));
  if (near) throw UsageError("there is no option '{}'; did you mean '{}'?", flag, *near);
  throw UsageError("'{}' is not understood here; --help lists the options", argument);
}

// What CLI11 did not take: key=value overrides and positional arguments.
void take_extras(const std::vector<std::string>& extras, Options& options, Values& values) {
  const auto positional = std::find_if(options.all().begin(), options.all().end(),
                                       [](const Option& o) { return o.is_positional(); });
  for (const auto& extra : extras) {
    const std::size_t equals = extra.find('=');
    Option* named = equals == std::string::npos ? nullptr : options.find(extra.substr(0, equals));
    if (extra.starts_with("-") && extra.size() > 1) refuse(extra, options);
    if (named != nullptr) {
      values[named] = {extra.substr(equals + 1)};
    } else if (positional == options.all().end()) {
      refuse(extra, options);
    } else if (!positional->is_list() && values.contains(&*positional)) {
      throw UsageError("'{}' is one argument too many: only one {} is taken", extra,
                       positional->value_name());
    } else {
      values[&*positional].push_back(extra);
    }
  }
}

void set_values(Option& option, const std::vector<std::string>& given) {
  // A list given as several flags, or as one with commas.
  if (option.is_list() && given.size() > 1) {
    option.set_list(given);
  } else if (option.is_positional() && option.is_list()) {
    option.set_list(given);
  } else {
    option.set(given.back());
  }
}

}  // namespace

void CommonFlags::describe(Options& o) {
  o.group("Everywhere");
  o.add("config", config, "a TOML recipe with defaults for these options; several may be given")
      .metavar("FILE.toml");
  o.add("json", json, "one JSON value on standard output, for machines");
  o.add("quiet", quiet, "no progress and no notes, only warnings and errors").alias("q");
  o.add("print-config", print_config, "print the resolved options as TOML and stop");
  o.add("help", help, "this text").alias("h");
}

void parse_arguments(const std::vector<std::string>& arguments, Options& options,
                     CommonFlags& flags) {
  flags.describe(options);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Values values;
  for (auto& option : options.all()) declare(app, option, values);

  // CLI11 takes its arguments in reverse order.
  std::vector<std::string> reversed;
  for (const auto& argument : arguments) reversed.insert(reversed.begin(), kebab_flag(argument));
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    throw UsageError("{}", error.what());
  }
  take_extras(app.remaining(), options, values);

  // Recipes are defaults: what the command line says is set after them.
  if (const auto it = values.find(options.find("config")); it != values.end()) {
    for (const auto& recipe : it->second) options.load_toml(recipe);
  }
  for (auto& [option, given] : values) set_values(*option, given);
  if (!flags.help) options.check();
  options.resolve();
}

}  // namespace addp
