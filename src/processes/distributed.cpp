// The only file that knows c10d, libtorch's process groups.
#include "processes/distributed.h"

#include "nn/torch.h"

// libtorch's headers hide these backends unless told that the library has them: gloo always is in
// it, NCCL where it was built for CUDA.
#define USE_C10D_GLOO
#ifdef ADDP_WITH_NCCL
#define USE_C10D_NCCL
#endif

#include <c10/util/Logging.h>
#include <gloo/common/logging.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#ifdef ADDP_WITH_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "processes/heartbeat.h"

namespace addp {
namespace {

using Milliseconds = std::chrono::milliseconds;
using StorePointer = c10::intrusive_ptr<c10d::Store>;

Milliseconds milliseconds(double seconds) {
  return Milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// c10d would print a stack trace for whatever is thrown here and told in one sentence.
void silence_libtorch() {
  if (std::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) FLAGS_caffe2_log_level = c10::GLOG_FATAL;
}

// The store in rank 0's process, through which the ranks find each other.
StorePointer meet(const WorldOptions& options) {
  c10d::TCPStoreOptions store;
  store.port = static_cast<std::uint16_t>(options.port);
  store.isServer = options.rank == 0;
  store.numWorkers = static_cast<std::size_t>(options.size);
  store.timeout = milliseconds(options.meeting_seconds);
  if (options.listen_descriptor >= 0) store.masterListenFd = options.listen_descriptor;
  try {
    return c10::make_intrusive<c10d::TCPStore>(options.address, store);
  } catch (const std::exception& error) {
    throw RuntimeError(
        "rank {} of {} could not meet the others at {}:{} within {:.0f} s: {}; are all ranks "
        "started, and do MASTER_ADDR and MASTER_PORT name a free port of rank 0's host?",
        options.rank, options.size, options.address, options.port, options.meeting_seconds,
        first_line(error.what()));
  }
}

// A connection of the heartbeat's own: one that is shared would be held up by waiting calls.
class HeartbeatStore : public SharedStore {
 public:
  explicit HeartbeatStore(const WorldOptions& options) {
    c10d::TCPStoreOptions store;
    store.port = static_cast<std::uint16_t>(options.port);
    store.waitWorkers = false;
    store.timeout = milliseconds(options.lost_seconds);
    store_ = c10::make_intrusive<c10d::TCPStore>(options.address, store);
  }
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    return store_->add("heartbeat/" + key, amount);
  }
  void set(const std::string& key, const std::string& value) override {
    store_->set("heartbeat/" + key, std::vector<std::uint8_t>(value.begin(), value.end()));
  }
  std::string get(const std::string& key) override {
    const auto bytes = store_->get("heartbeat/" + key);
    return {bytes.begin(), bytes.end()};
  }

 private:
  StorePointer store_;
};

c10::intrusive_ptr<c10d::ProcessGroupGloo> make_gloo(const StorePointer& store,
                                                     const WorldOptions& options) {
  const Milliseconds timeout = milliseconds(options.collective_seconds);
  // GLOO_SOCKET_IFNAME or the host's name say which network to use, unless nobody else is there.
  auto gloo = c10d::ProcessGroupGloo::Options::create(timeout);
  if (options.address == "127.0.0.1" || options.address == "localhost") {
    gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  } else {
    gloo = c10d::ProcessGroupGloo::Options::create_default(timeout);
  }
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, options.rank, options.size, gloo);
}

c10::intrusive_ptr<c10d::ProcessGroup> make_processes(const StorePointer& store,
                                                      const WorldOptions& options,
                                                      torch::Device device) {
  using Group = c10d::ProcessGroup;
  auto processes = c10::make_intrusive<Group>(store, options.rank, options.size);
  processes->setBackend(torch::kCPU, Group::BackendType::GLOO,
                        make_gloo(c10::make_intrusive<c10d::PrefixStore>("gloo", store), options));
  processes->setDefaultBackend(Group::BackendType::GLOO);
  if (device.is_cpu()) return processes;
#ifdef ADDP_WITH_NCCL
  if (device.is_cuda()) {
    auto nccl = c10d::ProcessGroupNCCL::Options::create();
    nccl->timeout = milliseconds(options.collective_seconds);
    processes->setBackend(torch::kCUDA, Group::BackendType::NCCL,
                          c10::make_intrusive<c10d::ProcessGroupNCCL>(
                              c10::make_intrusive<c10d::PrefixStore>("nccl", store), options.rank,
                              options.size, nccl));
    processes->setDefaultBackend(Group::BackendType::NCCL);
    return processes;
  }
#endif
  throw RuntimeError(
      "several processes cannot train on the device '{}': this build exchanges tensors of the CPU "
      "only (a build with a CUDA libtorch and its NCCL headers does it); say --device cpu",
      device.str());
}

bool is_network_error(const std::exception& error) {
  return dynamic_cast<const c10::DistError*>(&error) != nullptr ||
         dynamic_cast<const gloo::Exception*>(&error) != nullptr ||
         dynamic_cast<const gloo::EnforceNotMet*>(&error) != nullptr;
}

}  // namespace

struct World::Group {
  Group(const WorldOptions& options, torch::Device device)
      : store(meet(options)),
        heartbeat(options.rank, options.size, options.lost_seconds,
                  std::make_unique<HeartbeatStore>(options)) {
    guarded([&] { processes = make_processes(store, options, device); });
  }

  ~Group() {
    // Threads of the backend may wait for a rank that is gone: ending them would wait as well.
    if (!finished) std::ignore = processes.release();
  }

  // Runs what waits for other ranks; its network errors become the sentence about the lost rank.
  template <class Action>
  void guarded(Action action) {
    heartbeat.check();
    const Heartbeat::Waiting waiting(heartbeat);
    try {
      action();
    } catch (const std::exception& error) {
      if (!is_network_error(error)) throw;
      heartbeat.explain(error);
    }
  }

  // In slices, so that the alarm is heard meanwhile.
  void wait(const c10::intrusive_ptr<c10d::Work>& work, torch::Device device) {
    if (!device.is_cpu()) {
      work->wait();
      return;
    }
    for (;;) {
      try {
        work->wait(Milliseconds(500));
        return;
      } catch (const std::exception&) {
        if (work->isCompleted()) throw;
      }
      heartbeat.check();
    }
  }

  StorePointer store;
  Heartbeat heartbeat;
  c10::intrusive_ptr<c10d::ProcessGroup> processes;
  bool finished = false;
};

World::World() = default;

World::World(const WorldOptions& options, torch::Device device)
    : rank_(options.rank), size_(options.size) {
  if (size_ == 1) return;
  silence_libtorch();
  group_ = std::make_unique<Group>(options, device);
}

World::~World() = default;

void World::all_reduce_sum(const torch::Tensor& tensor) {
  if (!group_) return;
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> dense = {tensor.contiguous()};
  group_->guarded([&] { group_->wait(group_->processes->allreduce(dense), tensor.device()); });
  if (!dense[0].is_same(tensor)) tensor.copy_(dense[0]);
}

void World::all_reduce_mean(const torch::Tensor& tensor) {
  if (!group_) return;
  all_reduce_sum(tensor);
  const torch::NoGradGuard no_grad;
  tensor.div_(size_);
}

void World::broadcast(const torch::Tensor& tensor, int root) {
  if (!group_) return;
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> dense = {tensor.contiguous()};
  c10d::BroadcastOptions options;
  options.rootRank = root;
  group_->guarded(
      [&] { group_->wait(group_->processes->broadcast(dense, options), tensor.device()); });
  if (!dense[0].is_same(tensor)) tensor.copy_(dense[0]);
}

void World::broadcast(const std::vector<torch::Tensor>& tensors, int root) {
  if (!group_ || tensors.empty()) return;
  constexpr std::size_t kBufferBytes = std::size_t{64} << 20;
  const torch::NoGradGuard no_grad;
  group_->guarded(
      [&] { c10d::broadcast_coalesced(group_->processes, tensors, kBufferBytes, root); });
}

std::vector<std::string> World::all_gather(const std::string& mine) {
  if (!group_) return {mine};
  // Lengths first; then each text in its own row of a matrix that adds up from the ranks.
  const torch::Tensor lengths = torch::zeros({size_}, torch::kLong);
  lengths[rank_] = static_cast<std::int64_t>(mine.size());
  all_reduce_sum(lengths);
  const torch::Tensor rows =
      torch::zeros({size_, lengths.max().item<std::int64_t>()}, torch::kByte);
  if (!mine.empty()) std::memcpy(rows[rank_].data_ptr(), mine.data(), mine.size());
  if (rows.numel() > 0) all_reduce_sum(rows);
  std::vector<std::string> texts;
  for (int i = 0; i < size_; ++i) {
    const auto length = static_cast<std::size_t>(lengths[i].item<std::int64_t>());
    texts.emplace_back(static_cast<const char*>(rows[i].data_ptr()), length);
  }
  return texts;
}

bool World::any(bool mine) {
  const torch::Tensor count = torch::full({1}, mine ? 1 : 0, torch::kLong);
  all_reduce_sum(count);
  return count.item<std::int64_t>() > 0;
}

void World::barrier() { any(false); }

void World::check() const {
  if (group_) group_->heartbeat.check();
}

void World::finish() {
  if (!group_ || group_->finished) return;
  barrier();
  group_->heartbeat.finish();
  group_->finished = true;
}

namespace {

// Silences libtorch's hint that looking for unused parameters costs a walk over the graph: it
// is wanted here.
class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

}  // namespace

struct GradientReducer::Buckets {
  Buckets(const c10::intrusive_ptr<c10d::ProcessGroup>& processes,
          const std::vector<torch::Tensor>& parameters)
      : reducer(parameters, assignment(parameters), processes,
                std::vector<bool>(parameters.size(), false), c10d::kDefaultBucketBytesCap,
                /*find_unused_parameters=*/true, /*gradient_as_bucket_view=*/true,
                /*param_names=*/{}, c10d::kDefaultFirstBucketBytes,
                /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
                /*bucket_bytes_cap_list=*/{}) {}

  // Gradients arrive from the last layer to the first: so do the buckets, and the one that nothing
  // is left to overlap with is small.
  static std::vector<std::vector<std::size_t>> assignment(
      const std::vector<torch::Tensor>& parameters) {
    auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
        parameters, {c10d::kDefaultFirstBucketBytes, c10d::kDefaultBucketBytesCap});
    std::reverse(buckets.begin(), buckets.end());
    return buckets;
  }

  c10d::Reducer reducer;
};

GradientReducer::GradientReducer(World& world, std::vector<torch::Tensor> parameters)
    : world_(world) {
  if (!world.group_ || parameters.empty()) return;
  world.group_->guarded([&] {
    c10d::verify_params_across_processes(world.group_->processes, parameters, std::nullopt);
    buckets_ = std::make_unique<Buckets>(world.group_->processes, parameters);
  });
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::backward(const torch::Tensor& loss, bool exchange) {
  if (!buckets_ || !exchange) {
    loss.backward();
    return;
  }
  world_.group_->guarded([&] {
    {
      NoWarnings silent;
      const c10::WarningUtils::WarningHandlerGuard guard(&silent);
      buckets_->reducer.prepare_for_backward({loss});
    }
    loss.backward();
  });
}

}  // namespace addp
