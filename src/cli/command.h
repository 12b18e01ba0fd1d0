// A command of the program: what `addp --help` says of it, its options and its body.
//
// Options and texts are in the program itself, which does not link libtorch, so that help,
// mistakes and the light commands answer at once. A heavy body lives in libaddp.so, which is
// loaded when it is called.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "commands/library/run_in_library.h"

namespace addp {

// One call of a command: its options, to be filled, and what to do with them.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void describe(Options& options) = 0;
  virtual void run(const RunContext& context) = 0;
};

struct Command {
  std::string name;   // "doctor", "train addp"
  std::string group;  // the heading it stands under in --help
  std::string summary;
  std::string details;  // a paragraph for `addp NAME --help`
  std::vector<std::string> examples;
  std::function<std::unique_ptr<Invocation>()> make;
};

template <class OptionsStruct, class Body>
std::function<std::unique_ptr<Invocation>()> invocation(Body body) {
  struct Bound : Invocation {
    explicit Bound(Body b) : run_body(std::move(b)) {}
    void describe(Options& o) override { values.describe(o); }
    void run(const RunContext& context) override { run_body(values, context); }
    OptionsStruct values;
    Body run_body;
  };
  return [body] { return std::make_unique<Bound>(body); };
}

// A command whose body is in libaddp.so.
template <class OptionsStruct>
std::function<std::unique_ptr<Invocation>()> library_invocation() {
  return invocation<OptionsStruct>([](const OptionsStruct& options, const RunContext& context) {
    run_in_library(options, context);
  });
}

// A command whose body is in the program itself.
template <class OptionsStruct>
std::function<std::unique_ptr<Invocation>()> light_invocation() {
  return invocation<OptionsStruct>(
      [](const OptionsStruct& options, const RunContext& context) { run(options, context); });
}

// Every command, in the order of --help.
const std::vector<Command>& commands();

}  // namespace addp
