// One declaration per option. From it come the flag, the default, the help text, the key in a TOML
// recipe, the key=value override and the printed resolved configuration.
//
//   struct GenerateOptions {
//     std::int64_t steps = 20;
//     void describe(Options& o) { o.add("steps", steps, "denoising steps").range(1, 4096); }
//   };
//
// Names are kebab-case. Wherever a name is read, '_' and '.' count as '-' (MAE's snake_case flags
// and TOML tables work: [encoder] width = 128 is encoder-width).
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace addp {

std::string normalise_option_name(std::string_view name);

class Option {
 public:
  using Target =
      std::variant<bool*, std::int64_t*, double*, std::string*, std::filesystem::path*,
                   std::vector<std::string>*, std::vector<std::int64_t>*, std::vector<double>*>;

  Option(std::string name, Target target, std::string help);

  Option& range(double low, double high);           // inclusive, numbers only
  Option& choices(std::vector<std::string> names);  // strings only
  Option& alias(std::string flag);                  // another spelling; one letter gives -n
  Option& required();
  Option& positional();               // takes the bare arguments
  Option& metavar(std::string name);  // what --help shows for the value
  Option& advanced();                 // not in --help, only in --help-all
  Option& common();                   // in --help although its group is advanced

  // Parses and checks; a UsageError names the option, the value and what is allowed.
  void set(std::string_view text);
  void set_list(const std::vector<std::string>& items);
  // Throws if the present value (a default, too) is out of range or a required one is missing.
  void check() const;

  std::string value_text() const;  // the present value, as the command line takes it
  std::string value_toml() const;  // the same as a TOML value
  const std::string& default_text() const { return default_; }
  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  const std::string& group() const { return group_; }
  const std::vector<std::string>& aliases() const { return aliases_; }
  const std::vector<std::string>& allowed() const { return choices_; }
  // The inclusive range of a number that has one.
  const std::optional<std::pair<double, double>>& limits() const { return range_; }
  bool is_flag() const { return std::holds_alternative<bool*>(target_); }
  bool is_list() const { return target_.index() >= 5; }
  bool is_integer() const {
    return std::holds_alternative<std::int64_t*>(target_) ||
           std::holds_alternative<std::vector<std::int64_t>*>(target_);
  }
  bool is_number() const {
    return is_integer() || std::holds_alternative<double*>(target_) ||
           std::holds_alternative<std::vector<double>*>(target_);
  }
  bool is_positional() const { return positional_; }
  bool is_required() const { return required_; }
  bool is_advanced() const { return advanced_ && !required_ && !positional_; }
  std::string value_name() const;  // "N", "PATH", "cosine|linear", ...

 private:
  friend class Options;
  void check_text(std::string_view text) const;

  std::string name_, help_, group_, default_, metavar_;
  Target target_;
  std::optional<std::pair<double, double>> range_;
  std::vector<std::string> choices_, aliases_;
  bool required_ = false, positional_ = false, advanced_ = false, was_set_ = false;
};

class Options {
 public:
  Options() = default;
  Options(const Options&) = delete;  // options point at their owner's fields
  Options& operator=(const Options&) = delete;

  // Options added after this call are shown under `title`.
  void group(std::string title);
  // The same, where only --help-all shows the options that are not marked as common().
  void advanced_group(std::string title);

  template <class T>
  Option& add(std::string name, T& target, std::string help) {
    return add_option(Option(std::move(name), Option::Target(&target), std::move(help)));
  }
  // An enumeration: `names` pairs each spelling with its value. Set through the returned option.
  template <class E>
  Option& add_enum(std::string name, E& target, std::vector<std::pair<std::string, E>> names,
                   std::string help);

  Option* find(std::string_view name);  // by name or alias; nullptr if unknown
  Option& get(std::string_view name);   // a UsageError suggests the nearest name
  std::deque<Option>& all() { return options_; }
  const std::deque<Option>& all() const { return options_; }

  // key = value lines, grouped, with the help as comments; readable by load_toml.
  std::string to_toml() const;
  // Sets what the file names; unknown keys and wrong types are DataErrors with file and line.
  void load_toml(const std::filesystem::path& path);
  void load_toml_text(std::string_view text, const std::string& source);
  void check() const;
  // Copies enumeration spellings into their targets; call once after all values are set.
  void resolve() const;

 private:
  Option& add_option(Option option);

  std::deque<Option> options_;         // a deque keeps references valid
  std::deque<std::string> spellings_;  // storage of add_enum
  std::vector<std::function<void()>> resolvers_;
  std::string group_ = "Options";
  bool advanced_ = false;  // the group
};

template <class E>
Option& Options::add_enum(std::string name, E& target, std::vector<std::pair<std::string, E>> names,
                          std::string help) {
  std::vector<std::string> allowed;
  spellings_.emplace_back();
  std::string& spelling = spellings_.back();
  for (const auto& [text, value] : names) {
    allowed.push_back(text);
    if (value == target) spelling = text;
  }
  resolvers_.emplace_back([&target, &spelling, names = std::move(names)] {
    for (const auto& [text, value] : names) {
      if (text == spelling) target = value;
    }
  });
  return add(std::move(name), spelling, std::move(help)).choices(std::move(allowed));
}

// The candidate nearest to `word` by edit distance, if near enough to be a typing mistake.
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& candidates);

}  // namespace addp
