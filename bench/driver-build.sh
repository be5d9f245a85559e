#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/driver-build - how long `slipway driver build` compiles the real driver, and `make -j` alone the same modules of the
# same source for the same kernel, with the same compiler. Both at once, so that other work on the machine affects both alike;
# SLIPWAY_BENCH_TURNS=1: one after the other. Needs root, and gcc-12; minutes.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

((EUID == 0)) || die "the headers are laid over /usr in a private mount namespace, which needs root"
KERNEL="${SLIPWAY_BENCH_KERNEL:-6.1.0-50-amd64}"
DEBS="${SLIPWAY_BENCH_DEBS:-$("$REPO/tests/e2e/fetch-debs.sh" | tail -n 1)}"
MODULES="nvidia nvidia-uvm nvidia-modeset nvidia-drm"

# slipway_seconds : from the compile step to the next step.
slipway_seconds() {
  local start="" line
  while read -r line; do
    case "$line" in
      *'compiling NVIDIA'*) start="$EPOCHREALTIME" ;;
      *'packing userspace'*) awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", b - a }' ;;
    esac
  done < <("${BUILD[@]}" 2>&1)
}

# make_seconds : with the headers in the folders of Debian's packages.
make_seconds() {
  # shellcheck disable=SC2016 # it is for the other shell
  unshare --mount bash -euc '
    mount -t overlay overlay -o "lowerdir=$1/headers/usr/src:/usr/src" /usr/src
    mount -t overlay overlay -o "lowerdir=$1/headers/lib:$1/headers/usr/lib:/usr/lib" /usr/lib
    cd "$1"/source/usr/src/nvidia-current-open-*
    start="$EPOCHREALTIME"
    "${@:2}" >"$1/make.log" 2>&1
    awk -v a="$start" -v b="$EPOCHREALTIME" "BEGIN { printf \"%.1f\n\", b - a }"' bash "$SCRATCH" "${MAKE[@]}"
}

scratch_folder
mkdir "$SCRATCH/headers" "$SCRATCH/source"
version="$(dpkg-deb -f "$DEBS/linux-headers-${KERNEL}"_*.deb Version)"
for package in "linux-headers-$KERNEL" "linux-headers-${KERNEL%-amd64}-common" linux-kbuild-6.1 linux-compiler-gcc-12-x86; do
  dpkg-deb -x "$DEBS/${package}_${version}"_*.deb "$SCRATCH/headers"
done
dpkg-deb -x "$DEBS"/nvidia-open-kernel-dkms_*.deb "$SCRATCH/source"
BUILD=("$SLIPWAY" driver build --debs "$DEBS" --kernel "$KERNEL" --os debian12 --scratch "$SCRATCH" --output "$SCRATCH/layout")
MAKE=(make "-j$(nproc)" modules "KERNEL_UNAME=$KERNEL" "NV_KERNEL_MODULES=$MODULES" KCFLAGS=-g0)

machine
show "${BUILD[@]}"
show "${MAKE[@]}"
if [[ -n ${SLIPWAY_BENCH_TURNS:-} ]]; then
  by_slipway="$(slipway_seconds)"
  by_make="$(make_seconds)"
else
  make_seconds >"$SCRATCH/by-make" &
  by_slipway="$(slipway_seconds)"
  wait
  by_make="$(cat "$SCRATCH/by-make")"
fi
[[ -n $by_slipway && -n $by_make ]] || die "one of them failed: $(tail -n 3 "$SCRATCH/make.log")"
printf 'compiling by slipway %s s, by make %s s: %s\n' "$by_slipway" "$by_make" \
  "$(awk -v a="$by_slipway" -v b="$by_make" 'BEGIN { printf "%.2f", a / b }')"
