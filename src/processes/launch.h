// How the processes of a run start and find each other: what a launcher (torchrun, mpirun, srun)
// tells them through variables, and a launcher of our own for one machine (`--processes N`).
#pragma once

#include <string>
#include <vector>

namespace addp {

// Where this process stands among those of the run.
struct WorldOptions {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the processes of this machine
  std::string address = "127.0.0.1";
  int port = 29500;
  int listen_descriptor = -1;        // a socket that listens on `port` already, handed to rank 0
  double meeting_seconds = 600;      // how long the ranks wait for each other at the start
  double collective_seconds = 7200;  // how long a rank may keep the others waiting
  double lost_seconds = 20;          // silence after which a rank counts as lost
};

// Reads the variables of torchrun (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), OpenMPI
// (OMPI_COMM_WORLD_*), MPICH and its kin (PMI_*) or slurm (SLURM_*), in this order; none of them
// means a single process. A UsageError names variables that are missing or contradict each other.
WorldOptions world_from_environment();

// The first host of slurm's list: "gpu[03-05,9],login" is "gpu03".
std::string first_host(const std::string& node_list);

// True if this process is to start the ranks rather than to be one of them: `--processes` is above
// one and no launcher has set a rank. A UsageError if a launcher started another number.
bool is_launcher(int processes);

struct LaunchOptions {
  int processes = 2;
  int threads = 0;  // shared out among the ranks; 0: as many as this process may use
  std::vector<std::string> arguments;  // program first; empty: this program with its own arguments
  double grace_seconds = 20;  // between asking the others to end and killing them, after a failure
};

// Runs the program once per rank and returns 0, or the exit code of the first rank that failed; the
// others are then ended. SIGINT and SIGTERM go to every rank once, and their saving is waited for
// (a second signal ends them at once). Rank 0 alone has stdout. No process is left behind: the
// ranks are told to end if this process dies. Call it before libtorch has started threads.
int run_processes(const LaunchOptions& options);

// Only rank 0 shows progress and notes; warnings and errors are shown by all.
void quiet_other_ranks(const WorldOptions& world);

}  // namespace addp
