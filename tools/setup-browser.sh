#!/usr/bin/env bash
# Brings what the tests of the service need beside the program: a browser with its driver (apt) and the Python packages
# selenium, openai and Pillow in an environment of their own. Prints its python on stdout; messages go to stderr. Exit
# code 1 where something cannot be had: the tests that need it are then skipped, with that message.
#
# ADDP_SKIP_APT=1       never install system packages
set -euo pipefail
cache=${XDG_CACHE_HOME:-$HOME/.cache}/addp
place=$cache/browser-tests-1

say() { printf '%s\n' "$*" >&2; }

# Two tests at once: the second waits, for apt refuses to run twice, and finds everything done.
mkdir -p "$cache"
exec 9>"$place.lock"
flock 9

missing=""
command -v chromium >/dev/null || missing="$missing chromium"
command -v chromedriver >/dev/null || missing="$missing chromium-driver"
if [ -n "$missing" ]; then
  as_root=""
  [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
  if [ -n "${ADDP_SKIP_APT:-}" ] || ! command -v apt-get >/dev/null ||
    ! { $as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -q --no-install-recommends $missing; } >&2; then
    say "no browser to test with: install$missing"
    exit 1
  fi
fi

if [ ! -f "$place/complete" ]; then
  say "Installing selenium, openai and Pillow into $place (once for all checkouts)"
  rm -rf "$place"
  python3 -m venv "$place" >&2
  "$place/bin/python" -m pip install -q --disable-pip-version-check selenium openai Pillow >&2 || {
    say "pip could not install selenium, openai and Pillow: check the network"
    exit 1
  }
  touch "$place/complete"
fi
printf '%s\n' "$place/bin/python"
