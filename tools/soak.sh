#!/usr/bin/env bash
# Trains two stages for about the given time (7200 seconds) while it kills them with SIGKILL every 3 to 90 seconds, and
# compares what they end with, bit for bit, to runs beside them that nothing disturbs. The moments come from a seed.
#   tools/soak.sh [SECONDS [SEED]]
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 tests/faults/run.py "${BUILD:-build}/addp" --soak "${1:-7200}" --seed "${2:-1}"
