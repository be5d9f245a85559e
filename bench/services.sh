#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/services - the services of a node with eight simulated GPUs whose driver's calls cost what they cost on an H100: what
# each of them takes while nothing happens, and the memory of all of them together at 128 replicas of each GPU.
# Processes that simulate the machine do not count. As root: it has a pid namespace and mounts of its own.
#   --quick: 5 s instead of 30, one driver, 20 scrapes
#   SLIPWAY_BENCH_NVIDIA=FOLDER: with NVIDIA's nvidia-device-plugin and gpu-feature-discovery, built from k8s-device-plugin v0.20.0
#   with `go build -ldflags "-s -w" ./cmd/NAME`: the same machine and library, one after the other.
#   SLIPWAY_BENCH_SECONDS (30), SLIPWAY_BENCH_DRIVERS ("580.159.04 535.261.03"), SLIPWAY_BENCH_SCRAPES (600) before the memory
#   is read, SLIPWAY_BENCH_INTERVAL (dcgm's own) seconds between dcgm's samples at rest, SLIPWAY_BENCH_COSTS (on; off: calls are free).

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ -z ${SLIPWAY_BENCH_IN_NAMESPACE:-} ]]; then
  SLIPWAY_BENCH_IN_NAMESPACE=1 exec unshare -m -p -f --mount-proc --propagation private "${BASH_SOURCE[0]}" "$@"
fi
SECONDS_AT_REST="${SLIPWAY_BENCH_SECONDS:-30}" SCRAPES="${SLIPWAY_BENCH_SCRAPES:-600}"
read -r -a DRIVERS <<<"${SLIPWAY_BENCH_DRIVERS:-580.159.04 535.261.03}"
[[ ${1:-} != --quick ]] || SECONDS_AT_REST=5 SCRAPES=20 DRIVERS=("${DRIVERS[0]}")

SERVICES=(deviceplugin dcgm gfd validator runtime)
SLIPWAY_BENCH_DIR="${SLIPWAY_BENCH_DIR:-/tmp}" scratch_folder # a short path: sockets lie in it
trap 'kill $(jobs -p) 2>/dev/null; wait; umount -l /var/lib/kubelet 2>/dev/null; rm -rf "$SCRATCH"' EXIT
PORT="${SLIPWAY_BENCH_PORT:-19400}"
BIN="$(dirname "$SLIPWAY")"
SIM="$BIN/slipway-sim"
LIBRARIES="$("$SIM" library)"
ROOT="$SCRATCH/root"
MACHINE="$ROOT/run/slipway/sim"
mkdir -p "$ROOT/var/lib/kubelet/device-plugins" /var/lib/kubelet
mount --bind "$ROOT/var/lib/kubelet" /var/lib/kubelet # where NVIDIA's plugin looks for it

# spec REPLICAS INTERVAL : the spec of all services.
spec() {
  local sharing=""
  (($1 == 1)) || sharing=", sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: $1}]}}"
  cat >"$SCRATCH/host.yaml" <<YAML
apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bench}
spec:
  components:
    deviceplugin: {config: {version: v1$sharing}}
    dcgm: {listen: "127.0.0.1:$PORT", node: bench$2}
    gfd: {}
    validator: {}
    runtime: {mode: nri, engines: [containerd]}
YAML
}

# eventually COMMAND... : repeats it until it succeeds, for a minute.
eventually() {
  for ((i = 0; i < 600; i++)); do
    "$@" && return
    sleep 0.1
  done
  die "in vain: $*; $(tail -n 3 "$SCRATCH"/*.log)"
}

# start NAME : runs slipway's service in the background; its process id is in STARTED.
start() {
  "$SLIPWAY" service "$1" -f "$SCRATCH/host.yaml" --root "$ROOT" --sim "$PROFILE" >"$SCRATCH/$1.log" 2>&1 &
  STARTED=$!
}

# ready NAME : true when it has done its initial work.
ready() {
  case "$1" in
    deviceplugin) grep -qs "$DEVICES devices" "$SCRATCH/$1.log" ;;
    *) grep -qs ready "$SCRATCH/$1.log" ;;
  esac
}

# stop : ends the process STARTED, and all below it.
stop() {
  kill "$STARTED"
  wait "$STARTED" 2>/dev/null || true
}

# at_rest TITLE [PORT] : measures STARTED while nothing happens.
at_rest() {
  sleep "$((SECONDS_AT_REST < 10 ? SECONDS_AT_REST : 10))" # the first looks are over
  python3 "$REPO/bench/services_bench.py" rest "$1" "$STARTED" "$SECONDS_AT_REST" "$SIM" "$MACHINE" "${@:2}"
}

# beside COMMAND... : runs a program of NVIDIA's in the background.
beside() {
  SLIPWAY_SIM="$MACHINE" LD_LIBRARY_PATH="$LIBRARIES" "$@" >"$SCRATCH/nvidia.log" 2>&1 &
  STARTED=$!
}

# kubelet_stands_in : runs a stand-in for kubelet at its socket.
kubelet_stands_in() {
  "$BIN/demo-kubelet" "$ROOT/var/lib/kubelet" "$SCRATCH/kubelet" >"$SCRATCH/kubelet.log" 2>&1 &
  eventually test -S "$ROOT/var/lib/kubelet/device-plugins/kubelet.sock"
}

# memory NAME PID : prints a line for a service: its processes, and the PSS and RSS of all of them.
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

# rest_of DRIVER : measures all services with that driver, one at a time.
rest_of() {
  local name port
  PROFILE="h100x8,driver=$1,costs=${SLIPWAY_BENCH_COSTS:-on}" DEVICES=8
  spec 1 "${SLIPWAY_BENCH_INTERVAL:+, interval: ${SLIPWAY_BENCH_INTERVAL}s}"
  printf '\nAt rest for %s s, driver %s\n' "$SECONDS_AT_REST" "$1"
  show "$SLIPWAY" service NAME -f "$SCRATCH/host.yaml" --root "$ROOT" --sim "$PROFILE"
  for name in "${SERVICES[@]}"; do
    port=()
    [[ $name != dcgm ]] || port=("$PORT")
    start "$name"
    [[ $name == runtime ]] || eventually ready "$name"
    at_rest "$name" "${port[@]}"
    stop
  done
  if [[ -n ${SLIPWAY_BENCH_NVIDIA:-} ]]; then
    beside "$SLIPWAY_BENCH_NVIDIA/nvidia-device-plugin"
    eventually test -S /var/lib/kubelet/device-plugins/nvidia-gpu.sock
    at_rest "NVIDIA's k8s-device-plugin"
    stop
    beside "$SLIPWAY_BENCH_NVIDIA/gpu-feature-discovery" --use-node-feature-api=false "--output-file=$SCRATCH/labels"
    eventually test -s "$SCRATCH/labels"
    at_rest "NVIDIA's gpu-feature-discovery"
    stop
  fi
}

machine
kubelet_stands_in
for driver in "${DRIVERS[@]}"; do rest_of "$driver"; done

PROFILE="h100x8,driver=${DRIVERS[0]},costs=${SLIPWAY_BENCH_COSTS:-on}" DEVICES=1024
spec 128 ", interval: 1s"
printf '\nAll together, 128 replicas of each GPU, a sample a second, after %s scrapes\n' "$SCRAPES"
declare -A pid_of
for name in "${SERVICES[@]}"; do
  start "$name"
  pid_of[$name]=$STARTED
done
for name in deviceplugin dcgm gfd validator; do eventually ready "$name"; done
for ((i = 0; i < SCRAPES; i++)); do curl -sf "http://127.0.0.1:$PORT/metrics" >/dev/null; done
for name in "${SERVICES[@]}"; do memory "$name" "${pid_of[$name]}"; done | tee "$SCRATCH/all"
awk '{ for (i = 1; i < NF; i++) { if ($i == "PSS") pss += $(i + 1); if ($i == "RSS") rss += $(i + 1) } }
  END { printf "%-14s PSS %.1f MiB (%.1f MB)  RSS %.1f MiB\n", "together", pss, pss * 1.048576, rss }' "$SCRATCH/all"
