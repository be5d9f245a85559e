#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/dcgm - `slipway service dcgm` over simulated machines: 8 GPUs with the default counters, and 16 GPUs with 7 GPU
# instances each. Scrapes, memory, processor time, calls of NVML, and reloads of the driver.
#   SLIPWAY_BENCH_SCRAPES (3600), SLIPWAY_BENCH_SECONDS (60) for processor time, SLIPWAY_BENCH_RELOADS (50),
#   SLIPWAY_BENCH_INTERVAL (30) seconds between the samples of the second measurement, which lasts that much longer,
#   SLIPWAY_BENCH_HOUR (3600) samples and scrapes, ten a second, for memory after an hour's worth of them.
# With --hour, both machines at once for SLIPWAY_BENCH_HOUR seconds instead, sampled and scraped once a second: memory at the start
# and at the end, the times of the scrapes, processor time.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SLIPWAY_BENCH_DIR="${SLIPWAY_BENCH_DIR:-/tmp}" scratch_folder # a short path: sockets lie in it
SIM="$(dirname "$SLIPWAY")/slipway-sim"
PORT="${SLIPWAY_BENCH_PORT:-19400}"

case "${1:-}" in
  "" | --hour) ;;
  *) die "the argument '$1' is unknown; there is --hour" ;;
esac

# start PROFILE INTERVAL : the service, until stop.
start() {
  mkdir -p "$SCRATCH"
  cat >"$SCRATCH/host.yaml" <<YAML
apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bench}
spec: {components: {dcgm: {listen: "127.0.0.1:$PORT", node: bench, interval: $2}}}
YAML
  rm -rf "$SCRATCH/root" && mkdir -p "$SCRATCH/root"
  "$SLIPWAY" service dcgm -f "$SCRATCH/host.yaml" --root "$SCRATCH/root" --sim "$1" >"$SCRATCH/log" 2>&1 &
  SERVICE=$!
  trap 'kill "$SERVICE" 2>/dev/null || true; rm -rf "$SCRATCH"' EXIT
  for ((i = 0; i < 200; i++)); do
    curl -sf "http://127.0.0.1:$PORT/health" >/dev/null && return
    sleep 0.1
  done
  die "the service does not answer: $(cat "$SCRATCH/log")"
}
stop() {
  kill "$SERVICE"
  wait "$SERVICE" || true
}

# measure TEXT PROFILE RELOADS : one machine, at intervals of 1 s and SLIPWAY_BENCH_INTERVAL. GPU instances end with the
# driver, so so machines with MIG are measured without reloads.
measure() {
  local interval="${SLIPWAY_BENCH_INTERVAL:-30}"
  printf '\n%s (%s)\n' "$1" "$2"
  start "$2" 1s
  python3 "$REPO/bench/dcgm_bench.py" --port "$PORT" --pid "$SERVICE" --sim "$SIM" --folder "$SCRATCH/root/run/slipway/sim" \
    --scrapes "${SLIPWAY_BENCH_SCRAPES:-3600}" --seconds "${SLIPWAY_BENCH_SECONDS:-60}" --interval 1 \
    --reloads "$3" --hour 0
  stop
  start "$2" "${interval}s"
  python3 "$REPO/bench/dcgm_bench.py" --port "$PORT" --pid "$SERVICE" --sim "$SIM" --folder "$SCRATCH/root/run/slipway/sim" \
    --scrapes 0 --seconds "$((${SLIPWAY_BENCH_SECONDS:-60} + interval))" --interval "$interval" --reloads 0 --hour 0
  stop
  start "$2" 100ms
  python3 "$REPO/bench/dcgm_bench.py" --port "$PORT" --pid "$SERVICE" --sim "$SIM" --folder "$SCRATCH/root/run/slipway/sim" \
    --scrapes 0 --seconds 0 --interval 1 --reloads 0 --hour "${SLIPWAY_BENCH_HOUR:-3600}"
  stop
}

# hour TEXT PROFILE NUMBER : one machine for an hour, at a port and in a folder of its own.
hour() {
  PORT=$((PORT + $3)) SCRATCH="$SCRATCH/$3"
  start "$2" 1s
  python3 "$REPO/bench/dcgm_bench.py" --port "$PORT" --pid "$SERVICE" --sim "$SIM" --folder "$SCRATCH/root/run/slipway/sim" \
    --scrapes 0 --seconds 0 --interval 1 --reloads 0 --hour 0 --real-hour "${SLIPWAY_BENCH_HOUR:-3600}" --title "$1" >"$SCRATCH/result"
  stop
  cat "$SCRATCH/result"
}

# The machine of h100x8 with the same GPUs again on eight more buses: there is no profile with 16 GPUs that have MIG.
sed -e 's/^name: .*/name: h100x16/' -e '/- {address: "0000:[1-9a-f][0-9a-f]:/ { p; s/0000:/0001:/ }' \
  "$REPO/sim/profiles/h100x8.yaml" >"$SCRATCH/h100x16.yaml"
ln -s "$REPO/sim/profiles/models" "$SCRATCH/models"
machine
EIGHT=h100x8,driver=550.90.07
SIXTEEN="$SCRATCH/h100x16.yaml,driver=550.90.07,mig=1g.10gb"
if [[ "${1:-}" == --hour ]]; then
  hour "8 GPUs, default counters" "$EIGHT" 0 &
  FIRST=$!
  hour "16 GPUs with 7 GPU instances each" "$SIXTEEN" 1 &
  SECOND=$!
  trap 'kill "$FIRST" "$SECOND" 2>/dev/null || true; wait; rm -rf "$SCRATCH"' EXIT
  wait "$FIRST"
  wait "$SECOND"
else
  measure "8 GPUs, default counters" "$EIGHT" "${SLIPWAY_BENCH_RELOADS:-50}"
  measure "16 GPUs with 7 GPU instances each" "$SIXTEEN" 0
fi
