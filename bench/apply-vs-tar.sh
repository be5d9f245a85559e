#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/apply-vs-tar - installs a driver package into an empty root: slipway against tar and dpkg with the same files.
#
# slipway:  slipway apply (checks digests, unpacks, journals, links, depmod, ldconfig, syncs, verifies)
# tar:      tar --zstd -x of the same layers, then one sync -f
# dpkg:     dpkg --install of one package with the same files, in an empty root
# The three take turns, so that other work on the machine affects all alike. Also prints slipway's peak memory.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

fresh_root() {
  rm -rf "$SCRATCH/root"
  mkdir -p "$SCRATCH/root"
}

untar() {
  local layer
  for layer in "${LAYERS[@]}"; do
    mkdir -p "$SCRATCH/root/$(basename "$layer")"
    tar --zstd -xf "$layer" -C "$SCRATCH/root/$(basename "$layer")"
  done
  sync -f "$SCRATCH/root"
}

# make_deb : one package of the layers' files; zstd as in the layers, so that both decompress the same.
make_deb() {
  local tree="$SCRATCH/deb" layer
  mkdir -p "$tree/DEBIAN" "$tree/opt/bench"
  for layer in "${LAYERS[@]}"; do
    mkdir "$tree/opt/bench/$(basename "$layer")"
    tar --zstd -xf "$layer" -C "$tree/opt/bench/$(basename "$layer")"
  done
  printf 'Package: bench\nVersion: 1\nArchitecture: all\nMaintainer: bench <bench@localhost>\nDescription: bench\n' \
    >"$tree/DEBIAN/control"
  dpkg-deb -Zzstd --root-owner-group --build "$tree" "$SCRATCH/bench.deb" >/dev/null
  rm -rf "$tree"
}

dpkg_root() {
  fresh_root
  mkdir -p "$SCRATCH/root/var/lib/dpkg/"{info,updates,triggers}
  touch "$SCRATCH/root/var/lib/dpkg/"{status,available}
}

measure() {
  local turn
  for ((turn = 1; turn <= RUNS; ++turn)); do
    fresh_root
    seconds "${APPLY[@]}" >>"$SCRATCH/slipway.times"
    fresh_root
    seconds untar >>"$SCRATCH/tar.times"
    dpkg_root
    seconds dpkg --root="$SCRATCH/root" --install "$SCRATCH/bench.deb" >>"$SCRATCH/dpkg.times"
  done
}

scratch_folder
make_package
fresh_root
mapfile -t LAYERS < <(layers "$SCRATCH/root")
((${#LAYERS[@]})) || die "the plan unpacks nothing"
apply_command "$SCRATCH/root"
make_deb

echo "apply into an empty root, median of $RUNS"
machine
printf '%s layers, %s compressed\n' "${#LAYERS[@]}" "$(du -cb "${LAYERS[@]}" | tail -n 1 | awk '{ printf "%.0f MiB", $1 / 1048576 }')"
show "${APPLY[@]}"
show tar --zstd -xf LAYER -C ROOT/LAYER
show sync -f ROOT
show dpkg --root=ROOT --install bench.deb

seconds untar >/dev/null # the page cache has all files for all three
measure
fresh_root
python3 "$REPO/bench/peak_memory.py" "${APPLY[@]}" >"$SCRATCH/memory"

slipway_s="$(median <"$SCRATCH/slipway.times")"
tar_s="$(median <"$SCRATCH/tar.times")"
dpkg_s="$(median <"$SCRATCH/dpkg.times")"
printf 'slipway %s s   tar+sync %s s   dpkg %s s\n' "$slipway_s" "$tar_s" "$dpkg_s"
awk -v s="$slipway_s" -v t="$tar_s" -v d="$dpkg_s" 'BEGIN { printf "slipway/tar %.2f   slipway/dpkg %.2f\n", s / t, s / d }'
cat "$SCRATCH/memory"
