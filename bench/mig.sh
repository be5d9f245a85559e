#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/mig - one change of MIG layouts, on one and on eight simulated GPUs whose driver takes some time for each call:
# how long it takes, how often NVML was opened and called, and how much longer eight GPUs take than one.
#   SLIPWAY_BENCH_MIG_PARTED=PROGRAM: NVIDIA's nvidia-mig-parted as well, on the same machine and library, and whether both
#   say the same of it (export, generate-config, assert); as root, since it sees the simulated /proc and /sys in a mount
#   namespace of its own.
#   SLIPWAY_BENCH_MIG_DELAY: microseconds for each call (default 2000).

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scratch_folder
SIM="$(dirname "$SLIPWAY")/slipway-sim"
LIBRARIES="$("$SIM" library)"
DELAY="${SLIPWAY_BENCH_MIG_DELAY:-2000}"

# machine_of COUNT : a machine with that many GPUs, whose calls take some time.
machine_of() {
  rm -rf "$SCRATCH/machine" "$SCRATCH/root"
  "$SIM" "$SCRATCH/machine" make "h100x$1"
  mkdir "$SCRATCH/root"
  "$SIM" "$SCRATCH/machine" tree "h100x$1" "$SCRATCH/root"
  "$SIM" "$SCRATCH/machine" function all delay "$DELAY"
}

# mig_parted WORDS... : runs NVIDIA's program so that it sees the simulated machine.
mig_parted() {
  # shellcheck disable=SC2016 # the inner shell expands them
  unshare -m sh -c 'mount --bind "$0/sys" /sys && mount --bind "$0/proc" /proc && exec "$@"' "$SCRATCH/root" \
    "$SLIPWAY_BENCH_MIG_PARTED" "$@" 2>/dev/null
}

# calls : "TIMES-OPENED CALLS" since the counters were reset.
calls() {
  "$SIM" "$SCRATCH/machine" calls |
    awk '{calls += $2} $1 ~ /^nvmlInit/ {opened += $2} END {print opened + 0, calls + 0}'
}

# Keyed by program and number of GPUs.
declare -A TOOK CALLED

# ratio ONE OTHER : "1.03".
ratio() {
  awk -v one="$1" -v other="$2" 'BEGIN {printf "%.2f", other / one}'
}

# change NAME COUNT PROGRAM WORDS... : from MIG disabled to all-1g.10gb, the median of several times.
change() {
  local name="$1" count="$2" times=() start i
  shift 2
  show "$@" apply -f configs.yaml -c all-1g.10gb
  for ((i = 0; i < ${SLIPWAY_BENCH_RUNS:-5}; ++i)); do
    machine_of "$count"
    "$SIM" "$SCRATCH/machine" forget-calls
    start="$(date +%s%N)"
    "$@" apply -f "$SCRATCH/configs.yaml" -c all-1g.10gb >/dev/null
    times+=("$((($(date +%s%N) - start) / 1000000))")
  done
  TOOK[$name$count]="$(printf '%s\n' "${times[@]}" | sort -n | sed -n "$((${#times[@]} / 2 + 1))p")"
  CALLED[$name$count]="$(calls)"
  printf '%-18s %s GPUs: %6s ms, NVML opened and called: %s\n' "$name" "$count" "${TOOK[$name$count]}" \
    "${CALLED[$name$count]}"
}

# same_answers PROFILE : compares the answers of both programs about a machine, after each of its named configs.
same_answers() {
  local config other asked=0 differ=0
  rm -rf "$SCRATCH/machine" "$SCRATCH/root"
  "$SIM" "$SCRATCH/machine" make "$1"
  mkdir "$SCRATCH/root"
  "$SIM" "$SCRATCH/machine" tree "$1" "$SCRATCH/root"
  "$SLIPWAY" mig generate-config >"$SCRATCH/named.yaml"
  mig_parted generate-config | cmp -s - "$SCRATCH/named.yaml" || ((differ += 1))
  mapfile -t configs < <(sed -n 's/^  \(all-[^:]*\):$/\1/p' "$SCRATCH/named.yaml")
  for config in "${configs[@]}"; do
    "$SLIPWAY" mig apply -f "$SCRATCH/named.yaml" -c "$config" >/dev/null
    cmp -s <("$SLIPWAY" mig export) <(mig_parted export) || ((differ += 1))
    for other in "${configs[@]}"; do
      ours=0 theirs=0
      "$SLIPWAY" mig assert -f "$SCRATCH/named.yaml" -c "$other" >/dev/null 2>&1 || ours=$?
      mig_parted assert -f "$SCRATCH/named.yaml" -c "$other" >/dev/null || theirs=$?
      [[ $ours == "$theirs" ]] || ((differ += 1))
      ((asked += 1))
    done
  done
  printf '%-18s %s configs, exported after each, asserted %s times: %s answers differ\n' "$1" "${#configs[@]}" "$asked" \
    "$differ"
}

machine_of 8
export SLIPWAY_SIM="$SCRATCH/machine" LD_LIBRARY_PATH="$LIBRARIES" SLIPWAY_NVML="$LIBRARIES/libnvidia-ml.so.1"
"$SLIPWAY" mig generate-config -f "$SCRATCH/configs.yaml"
echo "MIG disabled to seven instances on each GPU, $DELAY us for each call of NVML"
machine
for count in 1 8; do
  change slipway "$count" "$SLIPWAY" mig
  [[ -z ${SLIPWAY_BENCH_MIG_PARTED:-} ]] || change nvidia-mig-parted "$count" mig_parted
done
for name in slipway nvidia-mig-parted; do
  [[ -z ${TOOK[${name}8]:-} ]] ||
    echo "$name: eight GPUs take $(ratio "${TOOK[${name}1]}" "${TOOK[${name}8]}") times as long as one"
done
[[ -z ${TOOK[nvidia-mig-parted8]:-} ]] ||
  echo "with eight GPUs slipway makes $(ratio "${CALLED[nvidia-mig-parted8]#* }" "${CALLED[slipway8]#* }") of the calls"
if [[ -n ${SLIPWAY_BENCH_MIG_PARTED:-} ]]; then
  for profile in a30x2 a100-80x2 h100x8 rtx-pro-6000x2; do same_answers "$profile"; done
fi
