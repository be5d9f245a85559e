#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/toolkit - CDI specs, engine configuration and container starts, beside NVIDIA's container toolkit.
#
# Usage: bench/toolkit.sh NVIDIA-CTK [NVIDIA-CONTAINER-RUNTIME]
#   SLIPWAY_BENCH_COSTS (on): what the driver's calls cost, sim/README.md; off: nothing. Without the second, no container is created.
#   Both built from NVIDIA/nvidia-container-toolkit with `go build -ldflags "-s -w"`. As root; needs runc and debootstrap
#   (tests/e2e/engine-root.sh makes the root). The machine: bookworm with Debian's driver 535.261.03 in its folders, eight
#   simulated H100. Output goes to a tmpfs, as /run is one. slipway is installed without debug information first,
#   as in packages; SLIPWAY=PROGRAM measures another one.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ ($# == 1 || $# == 2) && -x $1 && -x ${2:-$1} ]] || die "usage: bench/toolkit.sh NVIDIA-CTK [NVIDIA-CONTAINER-RUNTIME]"
SLIPWAY_BENCH_DIR="${SLIPWAY_BENCH_DIR:-/dev/shm}"
scratch_folder
machine
if [[ $SLIPWAY == "$REPO/build/release/bin/slipway" ]]; then
  DESTDIR="$SCRATCH/installed" cmake --install "$REPO/build/release" --strip >"$SCRATCH/output" 2>&1 || die "$(tail -n 3 "$SCRATCH/output")"
  SLIPWAY="$SCRATCH/installed/usr/bin/slipway"
fi
export PYTHONDONTWRITEBYTECODE=1

unshare -m --propagation private python3 "$REPO/bench/toolkit_bench.py" "$SLIPWAY" "$1" "${2:-}" "$SCRATCH" "${SLIPWAY_BENCH_RUNS:-50}"
