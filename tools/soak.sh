#!/usr/bin/env bash
# Trains two stages for the given time (7200 seconds) while it kills them with SIGKILL every 3 to 90 seconds, beside runs
# that nothing disturbs. Then whichever is behind goes on until it has saved the step of the other, and checkpoints and
# logs are compared, bit for bit. The moments come from a seed.
#   tools/soak.sh [SECONDS [SEED]]
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 tests/faults/run.py "${BUILD:-build}/addp" --soak "${1:-7200}" --seed "${2:-1}"
