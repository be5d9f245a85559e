# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# bench/lib.sh - what the measurements share: the program, a scratch folder, a package, the median. Source it.

REPO="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
SLIPWAY="${SLIPWAY:-$REPO/build/release/bin/slipway}"
RUNS="${SLIPWAY_BENCH_RUNS:-7}"
export REPO SLIPWAY RUNS

die() {
  printf '%s: error: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

[[ -x $SLIPWAY ]] || die "there is no $SLIPWAY; run ./dev bench, or ./dev build first"

# show COMMAND... : prints a command as it can be typed.
show() {
  printf '  $'
  printf ' %q' "$@"
  printf '\n'
}

# scratch_folder : creates the folder for all files of a measurement, and removes it at the end.
scratch_folder() {
  SCRATCH="$(mktemp -d "${SLIPWAY_BENCH_DIR:-$REPO/build}/bench-XXXXXX")"
  trap 'rm -rf "$SCRATCH"' EXIT
}

# machine : prints one line about the machine that the figures come from.
machine() {
  printf '%s, %s CPUs, %s GiB, %s on %s, kernel %s\n' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" \
    "$(awk '/MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)" \
    "$(stat -f -c %T "$SCRATCH")" "$(df --output=source "$SCRATCH" | tail -n 1)" "$(uname -r)"
}

# make_package : sets LAYOUT, VERSION and KERNEL to those of the measured package.
#   SLIPWAY_BENCH_PACKAGE=LAYOUT, with SLIPWAY_BENCH_VERSION and SLIPWAY_BENCH_KERNEL: that one (the real driver);
#   else a demonstration package with about SLIPWAY_BENCH_MIB MiB (default 250) of files that compress like a driver's.
make_package() {
  VERSION="${SLIPWAY_BENCH_VERSION:-535.261.03}"
  KERNEL="${SLIPWAY_BENCH_KERNEL:-6.1.0-50-amd64}"
  if [[ -n "${SLIPWAY_BENCH_PACKAGE:-}" ]]; then
    LAYOUT="$(realpath "$SLIPWAY_BENCH_PACKAGE")"
  else
    LAYOUT="$SCRATCH/package"
    "$REPO/examples/demo/make-package" --slipway "$SLIPWAY" --version "$VERSION" --kernel "$KERNEL" \
      --ballast "${SLIPWAY_BENCH_MIB:-250}" "$LAYOUT" >/dev/null
  fi
  cat >"$SCRATCH/host.yaml" <<YAML
apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bench}
spec:
  hardware: assume
  components:
    driver: {version: "$VERSION", modules: open, source: {repository: "$LAYOUT", trust: unsigned}}
YAML
}

# apply_command ROOT : sets the array APPLY to the command that provisions it.
apply_command() {
  # shellcheck disable=SC2034  # for who sources this
  APPLY=("$SLIPWAY" apply --yes --without-slipway --root "$1" --kernel "$KERNEL" --cache "$SCRATCH/cache" -f "$SCRATCH/host.yaml")
}

# layers : the layers that an apply unpacks, as paths of blobs, a line each.
layers() {
  "$SLIPWAY" plan --without-slipway --root "$1" --kernel "$KERNEL" --cache "$SCRATCH/cache" -f "$SCRATCH/host.yaml" -o json |
    python3 -c '
import json, sys
for component in json.load(sys.stdin)["components"]:
    for item in component["items"]:
        for layer in item["action"].get("layers", []):
            print(sys.argv[1] + "/blobs/" + layer["descriptor"]["digest"].replace(":", "/"))' "$LAYOUT"
}

# seconds COMMAND... : runs it without output and prints its wall-clock time.
seconds() {
  local start="$EPOCHREALTIME"
  "$@" >"$SCRATCH/output" 2>&1 || { cat "$SCRATCH/output" >&2; die "failed: $*"; }
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'
}

# median : of the numbers on standard input.
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
