#!/usr/bin/env bash
# Brings what is missing: system packages through apt, libtorch out of the PyPI wheel into a private
# environment that all checkouts share. Prints the folder of libtorch on stdout; messages go to stderr.
#
#   tools/setup.sh [tools]     with 'tools', also what formatting, linting and fuzzing need
#
# ADDP_TORCH=<folder>   use this libtorch (with include/ and lib/), CPU or CUDA
# ADDP_SKIP_APT=1       never install system packages
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
torch_version=2.13.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/addp

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local lists=("$here/packages-debian.txt")
  [ "${1:-}" = tools ] && lists+=("$here/packages-debian-tools.txt")
  local wanted
  mapfile -t wanted < <(grep -hv '^#' "${lists[@]}")
  # A package counts as present if it is installed or another installed one provides it.
  local present
  present=$(dpkg-query -W -f '${db:Status-Abbrev}|${Package}|${Provides}\n' 2>/dev/null |
    awk -F'|' '$1 ~ /^ii/ { print $2; n = split($3, p, /, */); for (i = 1; i <= n; i++) { sub(/ .*/, "", p[i]); print p[i] } }')
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) <(printf '%s\n' "$present" | sort -u)
}

install_packages() {
  command -v dpkg-query >/dev/null || {
    say "This is not a Debian or Ubuntu system: install the equivalents of tools/packages-debian.txt by hand,"
    say "then run again with ADDP_SKIP_APT=1."
    exit 1
  }
  local packages
  packages=$(missing_packages "${1:-}" | tr '\n' ' ')
  [ -n "${packages// /}" ] || return 0
  local as_root=""
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=sudo
    else
      say "These packages are missing, and there is no way to install them from here. Run this once:"
      say "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages"
      exit 1
    fi
  fi
  say "Installing system packages: $packages"
  $as_root apt-get update -q >&2
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $packages >&2
}

check_torch() {
  [ -f "$1/include/torch/csrc/api/include/torch/torch.h" ] && [ -f "$1/lib/libtorch_cpu.so" ]
}

torch_folder() {
  if [ -n "${ADDP_TORCH:-}" ]; then
    check_torch "$ADDP_TORCH" || {
      say "ADDP_TORCH=$ADDP_TORCH holds no libtorch (include/torch and lib/libtorch_cpu.so); correct or unset it."
      exit 1
    }
    (cd "$ADDP_TORCH" && pwd)
    return
  fi
  local place=$cache/torch-$torch_version
  if [ ! -f "$place/complete" ]; then
    mkdir -p "$cache"
    exec 9>"$cache/torch-$torch_version.lock"
    flock 9  # two checkouts at once: the second waits and finds it done
    if [ ! -f "$place/complete" ]; then
      say "Installing torch $torch_version into $place (once for all checkouts)"
      rm -rf "$place"
      python3 -m venv "$place" >&2
      "$place/bin/python" -m pip install -q --disable-pip-version-check "torch==$torch_version" numpy safetensors >&2 || {
        say "pip could not install torch $torch_version. Check the network and the free space in $cache,"
        say "or set ADDP_TORCH to a libtorch that is already there."
        exit 1
      }
      touch "$place/complete"
    fi
  fi
  # The wheel's path depends on the Python version; ask the folder rather than start Python.
  local found
  for found in "$place"/lib/python3*/site-packages/torch; do
    check_torch "$found" && { printf '%s\n' "$found"; return; }
  done
  say "$place is damaged: remove it and run again."
  exit 1
}

if [ "${ADDP_SKIP_APT:-0}" != 1 ]; then install_packages "${1:-}"; fi
torch_folder
