#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/services - the memory of all services of a node with eight simulated GPUs at 128 replicas each: deviceplugin (registered
# with a stand-in for kubelet), dcgm, gfd, validator, and runtime with mode nri. Each process counts with its share of pages
# (PSS); those that simulate the machine do not count.
#   SLIPWAY_BENCH_SCRAPES (600): scrapes of the metrics before the memory is read.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SERVICES=(deviceplugin dcgm gfd validator runtime)
SLIPWAY_BENCH_DIR="${SLIPWAY_BENCH_DIR:-/tmp}" scratch_folder # a short path: sockets lie in it
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$SCRATCH"' EXIT
PORT="${SLIPWAY_BENCH_PORT:-19400}"
ROOT="$SCRATCH/root"
mkdir -p "$ROOT/var/lib/kubelet/device-plugins"
cat >"$SCRATCH/host.yaml" <<YAML
apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bench}
spec:
  components:
    deviceplugin: {config: {version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 128}]}}}}
    dcgm: {listen: "127.0.0.1:$PORT", node: bench, interval: 1s}
    gfd: {}
    validator: {}
    runtime: {mode: nri, engines: [containerd]}
YAML

# eventually COMMAND... : waits until it succeeds, for half a minute.
eventually() {
  for ((i = 0; i < 300; i++)); do
    "$@" && return
    sleep 0.1
  done
  die "in vain: $*; $(tail -n 3 "$SCRATCH"/*.log)"
}

# memory NAME PID : a line for a service: its processes, and the PSS and RSS of all of them.
memory() {
  local pids=("$2") pid of_pid
  for ((i = 0; i < ${#pids[@]}; i++)); do
    read -r -a of_pid < <(cat /proc/"${pids[i]}"/task/*/children 2>/dev/null | tr '\n' ' ') || true
    pids+=("${of_pid[@]}")
  done
  for pid in "${pids[@]}"; do
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q slipway-sim-machine || cat "/proc/$pid/smaps_rollup"
  done | awk -v name="$1" '/^Rss:/ { rss += $2; count++ } /^Pss:/ { pss += $2 }
    END { printf "%-14s %d processes  PSS %5.1f MiB  RSS %5.1f MiB\n", name, count, pss / 1024, rss / 1024 }'
}

"$(dirname "$SLIPWAY")/demo-kubelet" "$ROOT/var/lib/kubelet" "$SCRATCH/kubelet" >"$SCRATCH/kubelet.log" 2>&1 &
eventually test -S "$ROOT/var/lib/kubelet/device-plugins/kubelet.sock"
machine
show "$SLIPWAY" service NAME -f "$SCRATCH/host.yaml" --root "$ROOT" --sim h100x8
declare -A pid_of
for name in "${SERVICES[@]}"; do
  "$SLIPWAY" service "$name" -f "$SCRATCH/host.yaml" --root "$ROOT" --sim h100x8 >"$SCRATCH/$name.log" 2>&1 &
  pid_of[$name]=$!
done
eventually grep -q '1024 devices' "$SCRATCH/deviceplugin.log"
for name in dcgm gfd validator; do eventually grep -q ready "$SCRATCH/$name.log"; done
for ((i = 0; i < ${SLIPWAY_BENCH_SCRAPES:-600}; i++)); do curl -sf "http://127.0.0.1:$PORT/metrics" >/dev/null; done
for name in "${SERVICES[@]}"; do memory "$name" "${pid_of[$name]}"; done | tee "$SCRATCH/all"
awk '{ for (i = 1; i < NF; i++) { if ($i == "PSS") pss += $(i + 1); if ($i == "RSS") rss += $(i + 1) } }
  END { printf "%-14s PSS %.1f MiB (%.1f MB)  RSS %.1f MiB\n", "together", pss, pss * 1.048576, rss }' "$SCRATCH/all"
