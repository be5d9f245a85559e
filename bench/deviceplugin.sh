#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/deviceplugin - `slipway service deviceplugin` before a stand-in for kubelet, beside NVIDIA's k8s-device-plugin.
#   SLIPWAY_BENCH_DEVICE_PLUGIN=PROGRAM: that one, built from NVIDIA/k8s-device-plugin with `go build -ldflags "-s -w"
#   ./cmd/nvidia-device-plugin`. Both ask the same library about the same machine. slipway's is run as its unit runs it, with
#   what an apply left. As root: it mounts in private.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BENCH="$(dirname "$SLIPWAY")/deviceplugin_bench"
[[ -x $BENCH ]] || die "there is no $BENCH; ninja -C build/release deviceplugin_bench"
if [[ -z ${SLIPWAY_BENCH_IN_NAMESPACE:-} ]]; then
  SLIPWAY_BENCH_IN_NAMESPACE=1 exec unshare -m --propagation private "${BASH_SOURCE[0]}"
fi
SLIPWAY_BENCH_DIR="${SLIPWAY_BENCH_DIR:-/tmp}" scratch_folder # a short path: sockets lie in it
cd "$SCRATCH"
SIM="$(dirname "$SLIPWAY")/slipway-sim"
LIBRARIES="$("$SIM" library)"
DRIVER="$SCRATCH/driver"
mkdir -p /var/lib/kubelet /etc/slipway kubelet/device-plugins root/etc/slipway "$DRIVER/usr/lib/x86_64-linux-gnu"
cp "$LIBRARIES/libnvidia-ml.so.1" "$DRIVER/usr/lib/x86_64-linux-gnu/"
mount --bind kubelet /var/lib/kubelet
mount --bind root/etc/slipway /etc/slipway
trap 'umount -l /var/lib/kubelet /etc/slipway; umount -l /sys 2>/dev/null; cd /; rm -rf "$SCRATCH"' EXIT
FOLDER=/var/lib/kubelet/device-plugins

# of_slipway CALLS, of_nvidia CALLS : one run with the config and the machine that measure() made.
of_slipway() {
  rm -rf /run/slipway/deviceplugin
  "$BENCH" "$FOLDER" "$devices" "$1" -- "$SLIPWAY" service deviceplugin --boot || tail -n 3 plugin.log
}
of_nvidia() {
  SLIPWAY_SIM="$SCRATCH/machine" LD_LIBRARY_PATH="$LIBRARIES" \
    "$BENCH" "$FOLDER" "$devices" "$1" -- "$SLIPWAY_BENCH_DEVICE_PLUGIN" --config-file="$SCRATCH/config.yaml" ||
    tail -n 3 plugin.log
}

# measure PROFILE REPLICAS DEVICES : a few whole runs, and then starts alone, alternating between the two.
measure() {
  local profile="$1" replicas="$2" sharing="" starts
  devices="$3"
  ((replicas == 1)) || sharing="sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: $replicas}]}}"
  printf 'version: v1\n%s\n' "$sharing" >config.yaml
  printf 'apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: b}\nspec: {components: {deviceplugin: {%s, %s}}}\n' \
    "driver_root: $DRIVER" "config: {version: v1${sharing:+, $sharing}}" >host.yaml
  "$SLIPWAY" apply --yes --without-slipway --root root -f host.yaml >apply.log 2>&1 || die "$(cat apply.log)"
  rm -rf "$DRIVER/run" machine tree && mkdir -p tree "$DRIVER/run/slipway"
  "$SIM" machine make "$profile"
  ln -s "$SCRATCH/machine" "$DRIVER/run/slipway/sim"
  "$SIM" machine tree "$profile" tree
  mount --bind tree/sys /sys
  printf '\n%s, %s replicas\n' "$profile" "$replicas"
  for ((i = 0; i < ${SLIPWAY_BENCH_RUNS:-3}; i++)); do
    printf 'slipway  ' && of_slipway 1000
    [[ -z ${SLIPWAY_BENCH_DEVICE_PLUGIN:-} ]] || { printf 'NVIDIA   ' && of_nvidia 1000; }
  done
  rm -f starts.*
  for ((i = 0; i < ${SLIPWAY_BENCH_STARTS:-20}; i++)); do
    of_slipway 0 >>starts.slipway
    [[ -z ${SLIPWAY_BENCH_DEVICE_PLUGIN:-} ]] || of_nvidia 0 >>starts.NVIDIA
  done
  for starts in starts.*; do
    printf '%-8s starts: %s\n' "${starts#starts.}" \
      "$(sort -n "$starts" | awk '{ all[NR] = $1 } END { printf "median %s ms, %s to %s", all[int((NR + 1) / 2)], all[1], all[NR] }')"
  done
  umount -l /sys
}

machine
measure h100x8 1 8
measure h100x8 128 1024
measure v100sxm3x16 1 16
