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

# measure NAME PROFILE REPLICAS DEVICES
measure() {
  local profile="$1" replicas="$2" devices="$3" sharing=""
  ((replicas == 1)) || sharing="sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: $replicas}]}}"
  printf 'version: v1\n%s\n' "$sharing" >config.yaml
  printf 'apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: b}\nspec: {components: {deviceplugin: {%s, %s}}}\n' \
    "driver_root: $DRIVER" "config: {version: v1${sharing:+, $sharing}}" >host.yaml
  "$SLIPWAY" apply --yes --root root -f host.yaml >apply.log 2>&1 || die "$(cat apply.log)"
  rm -rf "$DRIVER/run" machine tree && mkdir -p tree "$DRIVER/run/slipway"
  "$SIM" machine make "$profile"
  ln -s "$SCRATCH/machine" "$DRIVER/run/slipway/sim"
  "$SIM" machine tree "$profile" tree
  mount --bind tree/sys /sys
  printf '\n%s, %s replicas\n' "$profile" "$replicas"
  for ((i = 0; i < ${SLIPWAY_BENCH_RUNS:-3}; i++)); do
    rm -rf /run/slipway/deviceplugin
    printf 'slipway  '
    "$BENCH" "$FOLDER" "$devices" 1000 -- "$SLIPWAY" service deviceplugin --boot || tail -n 3 plugin.log
    [[ -n ${SLIPWAY_BENCH_DEVICE_PLUGIN:-} ]] || continue
    printf 'NVIDIA   '
    SLIPWAY_SIM="$SCRATCH/machine" LD_LIBRARY_PATH="$LIBRARIES" \
      "$BENCH" "$FOLDER" "$devices" 1000 -- "$SLIPWAY_BENCH_DEVICE_PLUGIN" --config-file="$SCRATCH/config.yaml" ||
      tail -n 3 plugin.log
  done
  umount -l /sys
}

machine
measure h100x8 1 8
measure h100x8 128 1024
measure v100sxm3x16 1 16
