// addp serve: the live page and the interface for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "machine/compute_options.h"

namespace addp {

struct ServeOptions {
  std::vector<std::string> models;
  std::string host = "127.0.0.1", token, data;
  std::filesystem::path token_file, watch;
  std::int64_t port = 8080, batch = 16, queue = 1024, connections = 256;
  bool open = false;
  Precision precision = Precision::kAuto;
  ComputeOptions compute;

  void describe(Options& o) {
    o.group("What to serve");
    o.add(
         "model", models,
         "models by name or path that make pictures (ADDP, predictor) or recognise them (classifier, detector, "
         "segmenter); can be given several times; none: all of 'addp models'")
        .metavar("PATH");
    o.add("watch", watch, "a folder with runs of 'addp train' to show; nothing in it is changed");
    o.add("data", data, "pictures among which to look for the nearest neighbours of one");
    o.group("Where");
    o.add("host", host, "address to listen on; any but this machine's own needs a token");
    o.add("port", port, "0: any that is free").range(0, 65535);
    o.add("token", token, "what clients must send as 'Authorization: Bearer TOKEN'");
    o.add("token-file", token_file, "a file with the token in its first line");
    o.add("open", open, "also open the page in the browser");
    o.group("How much at once");
    o.add("batch", batch, "pictures that are computed together, at most").range(1, 4096);
    o.add("queue", queue, "pictures that may wait; more are answered 503").range(1, 1e6);
    o.add("connections", connections, "open connections; more are answered 503").range(1, 900);
    describe_precision(o, precision);
    compute.describe(o);
  }
};

// Until an interrupt, which is an InterruptedError after everything was answered or cancelled.
void run(const ServeOptions& options, const RunContext& context);

}  // namespace addp
