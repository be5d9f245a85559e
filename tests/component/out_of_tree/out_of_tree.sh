#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# out_of_tree.sh SOURCE BUILD [SANITIZERS] - installs the SDK, builds examples/plugins/sysctl and a new plugin (`plugin
# new`) against it like a third party, runs their tests, and has slipway apply, remove and check them.
set -euo pipefail
source_dir=$1 build_dir=$2 sanitizers=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'out_of_tree: %s\n' "$1" >&2
  exit 1
}
# slipway TOOL... : runs the build tree's program, with the plugin that was just built.
slipway() { SLIPWAY_PLUGIN_PATH="$work/prefix/lib/slipway/plugins" "$build_dir/bin/slipway" "$@"; }
# paths DIR : lists every path below a folder, without slipway's own records.
paths() { (cd "$1" && find . -mindepth 1 ! -path './var/*' ! -path ./var | sort); }

# build_and_test SOURCE BUILD
build_and_test() {
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_INSTALL_PREFIX="$work/prefix" >"$work/log" || fail "$(cat "$work/log")"
  cmake --build "$2" -j2 >"$work/log" || fail "$(cat "$work/log")"
  ctest --test-dir "$2" --output-on-failure >"$work/log" || fail "$(cat "$work/log")"
}

cmake --install "$build_dir" --component sdk --prefix "$work/prefix" >/dev/null
# A third party has only the installed files, not the source tree.
cp -r "$source_dir/examples/plugins/sysctl" "$work/plugin"
flags=-O0
[[ -n $sanitizers ]] && flags+=" -fsanitize=$sanitizers"
build_and_test "$work/plugin" "$work/build"
cmake --install "$work/build" >/dev/null

grep -q "$source_dir" "$work/prefix"/lib*/cmake/slipway-sdk/*.cmake "$work/prefix"/lib/*/cmake/slipway-sdk/*.cmake \
  2>/dev/null && fail "the installed package names the source tree"
[[ $(nm -D --defined-only "$work/prefix/lib/slipway/plugins/sysctl.so" | awk '{print $3}') == slipway_plugin_open ]] ||
  [[ -n $sanitizers ]] || fail "the plugin exports more than its entry"

mkdir "$work/root"
slipway plugin info "$work/prefix/lib/slipway/plugins/sysctl.so" | grep -q '^sysctl  1.0.0  kernel parameters' ||
  fail "slipway does not read the plugin's note"
slipway apply --yes --without-slipway --root "$work/root" -f "$work/plugin/node.yaml"
grep -qx 'vm.swappiness = 1' "$work/root/etc/sysctl.d/60-slipway.conf" || fail "the parameters were not written"
grep -qx 'ib_umad' "$work/root/etc/modules-load.d/slipway-sysctl.conf" || fail "the modules were not written"
[[ -e $work/root/etc/systemd/system/slipway-hugepages.service ]] || fail "the unit was not written"
slipway plan --without-slipway --root "$work/root" -f "$work/plugin/node.yaml" || fail "a second apply would change something"
slipway verify --root "$work/root" -f "$work/plugin/node.yaml" || fail "verify does not pass"
slipway remove --yes --all --root "$work/root"
[[ -z $(paths "$work/root") ]] || fail "removal left: $(paths "$work/root")"
slipway plugin check "$work/prefix/lib/slipway/plugins/sysctl.so" -f "$work/plugin/node.yaml" || fail "plugin check does not pass"

slipway plugin new acme-limits --to "$work/acme" >/dev/null
build_and_test "$work/acme" "$work/acme-build"
slipway plugin check "$work/acme-build/acme-limits.so" || fail "plugin check does not pass for a new plugin"
