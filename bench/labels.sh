#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/labels - a pass of feature discovery over eight simulated GPUs, beside NVIDIA's gpu-feature-discovery.
#   SLIPWAY_BENCH_GFD=PROGRAM: that one, built from NVIDIA/k8s-device-plugin v0.20.0 with `go build -ldflags "-s -w"
#   ./cmd/gpu-feature-discovery`. Both ask the same library about the same machine; without it, slipway alone. As root: it mounts
#   over /sys in private.
#   SLIPWAY_BENCH_COSTS (on): what the driver's calls cost, sim/README.md; off: nothing.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ -z ${SLIPWAY_BENCH_IN_NAMESPACE:-} ]]; then
  [[ -z ${SLIPWAY_BENCH_GFD:-} || -x $SLIPWAY_BENCH_GFD ]] || die "SLIPWAY_BENCH_GFD is not a program: $SLIPWAY_BENCH_GFD"
  SLIPWAY_BENCH_IN_NAMESPACE=1 exec unshare -m "${BASH_SOURCE[0]}"
fi
scratch_folder
SIM="$(dirname "$SLIPWAY")/slipway-sim"
LIBRARIES="$("$SIM" library)"
PROFILE="h100x8,driver=580.159.04,costs=${SLIPWAY_BENCH_COSTS:-on}"
"$SIM" "$SCRATCH/machine" make "$PROFILE"
mkdir "$SCRATCH/root"
"$SIM" "$SCRATCH/machine" tree "$PROFILE" "$SCRATCH/root"
mount --bind "$SCRATCH/root/sys" /sys
trap 'umount /sys; rm -rf "$SCRATCH"' EXIT
echo 'version: v1' >"$SCRATCH/config.yaml"
export SLIPWAY_SIM="$SCRATCH/machine" LD_LIBRARY_PATH="$LIBRARIES" SLIPWAY_NVML="$LIBRARIES/libnvidia-ml.so.1"
ours=("$SLIPWAY" gfd labels --no-timestamp)
beside=()
if [[ -n ${SLIPWAY_BENCH_GFD:-} ]]; then
  theirs=("$SLIPWAY_BENCH_GFD" --oneshot --no-timestamp --use-node-feature-api=false --output-file=
    "--config-file=$SCRATCH/config.yaml")
  diff <("${ours[@]}" | sort) <("${theirs[@]}" 2>/dev/null | sort) || die "the labels differ"
  beside=(-- gpu-feature-discovery "${theirs[@]}")
fi
echo "labels of $PROFILE"
machine
gcc -O2 -o "$SCRATCH/open-library" "$REPO/bench/open_library.c" -ldl
"$REPO/bench/side_by_side.py" "${SLIPWAY_BENCH_RUNS:-50}" slipway "${ours[@]}" "${beside[@]}" \
  -- "opening the library" "$SCRATCH/open-library" "$SLIPWAY_NVML"
