// The service: models, queue, routes and the listener.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/http/guard.h"
#include "server/http/http_server.h"
#include "server/jobs/queue.h"
#include "server/jobs/shelf.h"
#include "server/routes/metrics.h"
#include "server/routes/neighbours.h"
#include "server/routes/runs.h"

namespace addp {

struct ServiceOptions {
  std::vector<std::filesystem::path> models;
  GuardOptions guard;  // port 0: any that is free
  HttpLimits http;
  QueueOptions queue;
  bool bf16 = false;
  std::filesystem::path watch;  // runs of trainings; empty: none
  std::string data;             // pictures for nearest neighbours; empty: none
};

// What the routes work with.
struct ServiceContext {
  const Shelf& shelf;
  JobQueue& queue;
  const HttpServer& server;
  ServiceMetrics& metrics;
  const HttpLimits& limits;
  const RunFolder& runs;
  const Neighbours* neighbours = nullptr;
};

class Service {
 public:
  // Reads the models and binds the port; a RuntimeError where it is taken.
  explicit Service(const ServiceOptions& options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  int port() const { return port_; }
  const Shelf& shelf() const { return shelf_; }
  void start();  // answers requests, in threads of its own
  void stop();   // cancels what runs, answers it, and closes

 private:
  void add_routes();

  ServiceOptions options_;
  Shelf shelf_;
  JobQueue queue_;
  ServiceMetrics metrics_;
  RunFolder runs_;
  std::unique_ptr<Neighbours> neighbours_;
  std::unique_ptr<ServiceContext> context_;
  HttpServer server_;
  std::unique_ptr<Guard> guard_;
  int port_ = 0;
  std::thread listener_;
};

}  // namespace addp
