// What launchers tell a process through its environment.
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "processes/launch.h"

namespace addp {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<int> number(const char* name) {
  const auto text = variable(name);
  if (!text) return std::nullopt;
  int value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < 0) {
    throw UsageError("the variable {}='{}' is not a whole number; correct or unset it", name,
                     *text);
  }
  return value;
}

int needed(const char* name, const char* because) {
  const auto value = number(name);
  if (!value) {
    throw UsageError("the variable {} is set but {} is not; set both or neither", because, name);
  }
  return *value;
}

// The names under which a launcher gives rank, size, rank and size on this machine.
struct Launcher {
  const char *rank, *size, *local_rank, *local_size;
};

constexpr Launcher kTorchrun{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Launcher kOpenMpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Launcher kMpich{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr Launcher kSlurm{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr};

// A batch script sees SLURM_PROCID and SLURM_NTASKS too, although it is one process: only a task
// started by srun has a step.
bool is_slurm_batch_script() {
  return variable("SLURM_JOB_ID") && !variable("SLURM_STEP_ID") && !variable("SLURM_STEPID");
}

bool started_by(const Launcher& launcher) {
  if (launcher.rank == kSlurm.rank && is_slurm_batch_script()) return false;
  // sbatch and salloc set SLURM_NTASKS without a rank.
  if (launcher.rank == kSlurm.rank) return variable(launcher.rank).has_value();
  return variable(launcher.rank) || variable(launcher.size);
}

std::optional<Launcher> find_launcher() {
  for (const Launcher& launcher : {kTorchrun, kOpenMpi, kMpich, kSlurm}) {
    if (started_by(launcher)) return launcher;
  }
  return std::nullopt;
}

std::optional<std::string> slurm_first_node() {
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"}) {
    if (const auto list = variable(name)) return first_host(*list);
  }
  return std::nullopt;
}

std::string master_address(const Launcher& launcher, int size) {
  if (const auto given = variable("MASTER_ADDR")) return *given;
  if (launcher.rank == kTorchrun.rank) {
    throw UsageError("{}={} is set but MASTER_ADDR is not; set it to the host of rank 0",
                     launcher.size, size);
  }
  const auto local = launcher.local_size ? number(launcher.local_size) : std::nullopt;
  if (local && *local == size) return "127.0.0.1";
  if (const auto node = slurm_first_node()) return *node;
  throw UsageError("{}={} processes cannot find rank 0: set MASTER_ADDR to its host", launcher.size,
                   size);
}

int master_port(const Launcher& launcher) {
  if (const auto given = number("MASTER_PORT")) {
    if (*given < 1 || *given > 65535) {
      throw UsageError("the variable MASTER_PORT={} is not a port (1 to 65535)", *given);
    }
    return *given;
  }
  if (launcher.rank == kTorchrun.rank) {
    throw UsageError("{} is set but MASTER_PORT is not; set it to a free port of rank 0's host",
                     launcher.size);
  }
  // Two jobs on one node should not meet: the port follows from the job.
  const auto job = variable("SLURM_JOB_ID") ? number("SLURM_JOB_ID") : std::nullopt;
  return job ? 20000 + *job % 10000 : WorldOptions().port;
}

}  // namespace

std::string first_host(const std::string& node_list) {
  std::string host;
  for (std::size_t i = 0; i < node_list.size() && node_list[i] != ','; ++i) {
    if (node_list[i] != '[') {
      host += node_list[i];
      continue;
    }
    const std::size_t close = node_list.find(']', i);
    if (close == std::string::npos) throw UsageError("'{}' is not a list of nodes", node_list);
    const std::string inside = node_list.substr(i + 1, close - i - 1);
    host += inside.substr(0, inside.find_first_of(",-"));
    i = close;
  }
  if (host.empty()) throw UsageError("'{}' is not a list of nodes", node_list);
  return host;
}

WorldOptions world_from_environment() {
  WorldOptions world;
  const auto launcher = find_launcher();
  if (!launcher) return world;
  world.rank = needed(launcher->rank, launcher->size);
  world.size = needed(launcher->size, launcher->rank);
  if (world.size < 1 || world.rank >= world.size) {
    throw UsageError("the variables {}={} and {}={} contradict each other: ranks count from 0",
                     launcher->rank, world.rank, launcher->size, world.size);
  }
  if (world.size == 1) return world;
  world.local_rank = number(launcher->local_rank).value_or(world.rank);
  if (world.local_rank > world.rank) {
    throw UsageError("the variables {}={} and {}={} contradict each other", launcher->local_rank,
                     world.local_rank, launcher->rank, world.rank);
  }
  world.address = master_address(*launcher, world.size);
  world.port = master_port(*launcher);
  if (world.rank == 0) world.listen_descriptor = number("ADDP_LISTEN_DESCRIPTOR").value_or(-1);
  return world;
}

bool is_launcher(int processes) {
  const auto launcher = find_launcher();
  if (!launcher) return processes > 1;
  const int size = world_from_environment().size;
  if (processes > 1 && size > 1 && size != processes) {
    throw UsageError("--processes {} contradicts {}={} of the launcher; omit --processes",
                     processes, launcher->size, size);
  }
  return size == 1 && processes > 1;
}

void quiet_other_ranks(const WorldOptions& world) {
  if (world.rank == 0) return;
  set_progress_quiet(true);
  set_log_quiet(true);
}

}  // namespace addp
