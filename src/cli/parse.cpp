#include "cli/parse.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"

namespace addp {
namespace {

using Values = std::map<Option*, std::vector<std::string>>;

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

// What an argument list says, option by option. Flags may stand anywhere; `--` ends them.
class ArgumentReader {
 public:
  ArgumentReader(const std::vector<std::string>& arguments, Options& options)
      : arguments_(arguments), options_(options) {}

  Values read() {
    bool only_bare = false;
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (only_bare || !is_flag(argument)) {
        take_bare(argument);
      } else if (argument == "--") {
        only_bare = true;
      } else if (argument.starts_with("--")) {
        take_long(argument);
      } else {
        take_short(argument);
      }
    }
    return std::move(values_);
  }

 private:
  // A negative number is a value.
  static bool is_flag(const std::string& argument) {
    return argument.size() > 1 && argument[0] == '-' &&
           (std::isdigit(static_cast<unsigned char>(argument[1])) == 0 && argument[1] != '.');
  }

  Option* find_flag(const std::string& name) {
    Option* option = options_.find(name);
    return option == nullptr || option->is_positional() ? nullptr : option;
  }

  // --name VALUE, --name=VALUE, --flag, --no-flag
  void take_long(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const bool has_value = equals != std::string::npos;
    const std::string name = argument.substr(2, has_value ? equals - 2 : equals);
    Option* option = name.size() > 1 ? find_flag(name) : nullptr;
    if (option == nullptr && (name.starts_with("no-") || name.starts_with("no_")) && !has_value) {
      Option* denied = find_flag(name.substr(3));
      if (denied == nullptr || !denied->is_flag()) refuse(argument, options_);
      values_[denied] = {"false"};
    } else if (option == nullptr) {
      refuse(argument, options_);
    } else if (has_value) {
      take_value(*option, argument.substr(equals + 1));
    } else if (option->is_flag()) {
      values_[option] = {"true"};
    } else {
      take_value(*option, next_value(*option));
    }
  }

  // -q, -n VALUE, -nVALUE, -n=VALUE, and several letters at once
  void take_short(const std::string& argument) {
    for (std::size_t i = 1; i < argument.size(); ++i) {
      Option* option = find_flag(argument.substr(i, 1));
      if (option == nullptr) refuse(argument, options_);
      if (option->is_flag()) {
        values_[option] = {"true"};
        continue;
      }
      const std::string rest = argument.substr(i + 1);
      take_value(*option,
                 rest.empty() ? next_value(*option) : rest.substr(rest.front() == '=' ? 1 : 0));
      return;
    }
  }

  // key=value, or one of the bare arguments that the command takes.
  void take_bare(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    Option* named =
        equals == std::string::npos ? nullptr : options_.find(argument.substr(0, equals));
    const auto positional = std::find_if(options_.all().begin(), options_.all().end(),
                                         [](const Option& o) { return o.is_positional(); });
    if (named != nullptr) {
      values_[named] = {argument.substr(equals + 1)};
    } else if (positional == options_.all().end()) {
      refuse(argument, options_);
    } else if (!positional->is_list() && values_.contains(&*positional)) {
      throw UsageError("'{}' is one argument too many: only one {} is taken", argument,
                       positional->value_name());
    } else {
      values_[&*positional].push_back(argument);
    }
  }

  // A list may be given piece by piece; of anything else the last value counts.
  void take_value(Option& option, std::string value) {
    auto& given = values_[&option];
    if (!option.is_list()) given.clear();
    given.push_back(std::move(value));
  }

  std::string next_value(const Option& option) {
    if (next_ == arguments_.size() || is_flag(arguments_[next_])) {
      throw UsageError("--{} needs a value: --{} {}", option.name(), option.name(),
                       option.value_name());
    }
    return arguments_[next_++];
  }

  const std::vector<std::string>& arguments_;
  Options& options_;
  std::size_t next_ = 0;
  Values values_;
};

void set_values(Option& option, const std::vector<std::string>& given) {
  // A list given as several flags, or as one with commas.
  if (option.is_list() && (option.is_positional() || given.size() > 1)) {
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
  o.add("help", help, "the options that people use").alias("h");
  o.add("help-all", help_all, "all options");
}

void parse_arguments(const std::vector<std::string>& arguments, Options& options,
                     CommonFlags& flags) {
  flags.describe(options);
  Values values = ArgumentReader(arguments, options).read();

  // Recipes are defaults: what the command line says is set after them.
  if (const auto it = values.find(options.find("config")); it != values.end()) {
    for (const auto& recipe : it->second) options.load_toml(recipe);
  }
  for (auto& [option, given] : values) set_values(*option, given);
  if (!flags.help && !flags.help_all) options.check();
  options.resolve();
}

}  // namespace addp
