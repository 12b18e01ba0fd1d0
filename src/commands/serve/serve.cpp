#include "commands/serve/serve.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/run/subprocess.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/torch.h"
#include "server/routes/service.h"

namespace addp {
namespace {

std::string token_of(const ServeOptions& options) {
  if (options.token_file.empty()) return options.token;
  if (!options.token.empty()) throw UsageError("give --token or --token-file, not both");
  std::string text = read_text_file(options.token_file, 4096);
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  if (text.empty()) throw DataError("{}: its first line, the token, is empty", options.token_file);
  return text;
}

void check_token(const std::string& host, const std::string& token) {
  if (is_loopback(host)) return;
  constexpr std::size_t kShortest = 8;
  if (token.size() < kShortest) {
    throw UsageError(
        "--host {}: others can reach this address; give a --token-file with {} letters or more",
        host, kShortest);
  }
  warn("plain HTTP: whoever is between here and the client can read everything, the token too");
}

ServiceOptions service_options(const ServeOptions& options) {
  ServiceOptions service;
  for (const std::string& model : options.models) service.models.emplace_back(model);
  service.guard = {options.host, static_cast<int>(options.port), token_of(options)};
  check_token(options.host, service.guard.token);
  service.http.connections = static_cast<std::size_t>(options.connections);
  service.queue = {.batch = options.batch, .waiting = options.queue};
  service.bf16 = bf16_here(options.precision);
  service.watch = options.watch;
  service.data = options.data;
  if (!options.watch.empty() && !std::filesystem::is_directory(options.watch)) {
    throw DataError("--watch {}: is no folder", options.watch);
  }
  return service;
}

std::string address_of(const ServeOptions& options, int port) {
  const bool v6 = options.host.find(':') != std::string::npos;
  return v6 ? fmt::format("http://[{}]:{}/", options.host, port)
            : fmt::format("http://{}:{}/", options.host, port);
}

}  // namespace

void run(const ServeOptions& options, const RunContext& context) {
  const ServiceOptions service_settings = service_options(options);
  use_machine(options.compute);
  Service service(service_settings);
  service.start();
  const std::string address = address_of(options, service.port());
  if (context.json) {
    print_stdout(nlohmann::json{{"address", address}, {"port", service.port()}}.dump() + "\n");
  } else {
    print_stdout(fmt::format("{}\n", address));
  }
  finish_stdout();
  for (const auto& model : service.shelf().models()) note("{} ({})", model->name, model->kind);
  note("the page is at {}; Ctrl-C ends", address);
  if (options.open) run_program({"xdg-open", address});
  while (!interrupt_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  service.stop();
  throw InterruptedError("the server was stopped");
}

}  // namespace addp
