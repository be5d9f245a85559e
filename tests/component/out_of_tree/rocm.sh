#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rocm.sh SOURCE BUILD [SANITIZERS] - builds examples/plugins/rocm as a Debian package with only the installed SDK, runs
# its tests, unpacks it, and has slipway check, plan, apply, verify and remove it on a simulated machine with eight
# MI300X.
set -euo pipefail
source_dir=$1 build_dir=$2 sanitizers=${3:-}
[[ -z $sanitizers ]] || exit 0 # a plugin without the sanitizer cannot be loaded, and packages are built without it
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'rocm: %s\n' "$1" >&2
  exit 1
}
# slipway WORD... : runs the build tree's program, with the package's plugin.
slipway() { SLIPWAY_PLUGIN_PATH="$work/host/usr/lib/slipway/plugins" "$build_dir/bin/slipway" "$@"; }
# paths DIR : lists every path below a folder, without slipway's own records, the linker's cache and the user databases.
paths() { (cd "$1" && find . -mindepth 1 ! -path './var*' ! -path './run*' ! -name 'passwd*' ! -name '*group*' ! -name '*shadow*' ! -name .pwd.lock | sort); }
# said FILE WORDS : expects these words in a command's output.
said() { grep -qF -- "$2" "$1" || fail "'$2' is missing in: $(cat "$1")"; }

cmake --install "$build_dir" --component sdk --prefix "$work/prefix" >/dev/null
# A third party has only the installed files, not the source tree.
cp -r "$source_dir/examples/plugins/rocm" "$work/rocm"
cd "$work/rocm"
CMAKE_PREFIX_PATH="$work/prefix" DEB_BUILD_OPTIONS="parallel=2 noopt" dpkg-buildpackage -b -us -uc -d >"$work/log" 2>&1 ||
  fail "$(tail -n 60 "$work/log")"
said "$work/log" "tests passed"
mkdir "$work/host"
dpkg-deb -x "$work"/slipway-rocm_1.0.0_*.deb "$work/host"
[[ -f $work/host/usr/lib/slipway/plugins/rocm.so ]] || fail "the package has no plugin: $(find "$work/host")"

machine="$work/rocm/mi300x8.yaml"
slipway plugin check "$work/host/usr/lib/slipway/plugins/rocm.so" --sim "$machine" -f node.yaml >"$work/checked" ||
  fail "plugin check does not pass: $(cat "$work/checked")"

mkdir -p "$work/root/etc" "$work/root/usr/lib"
before=$(paths "$work/root")
slipway plan --sim "$machine" --root "$work/root" -f node.yaml >"$work/plan" && fail "nothing is planned"
for words in 'rocm: 5 changes' 'rocm-cdi: 2 changes' /etc/udev/rules.d/70-slipway-rocm.rules /etc/cdi/amd.json amdgpu sysusers; do said "$work/plan" "$words"; done
slipway apply --yes --sim "$machine" --root "$work/root" -f node.yaml
said "$work/root/etc/modprobe.d/slipway-rocm.conf" 'options amdgpu noretry=0'
python3 - "$work/root/etc/cdi/amd.json" <<'PY' || fail "the CDI spec is another one"
import json, sys
spec = json.load(open(sys.argv[1]))
assert spec["kind"] == "amd.com/gpu", spec
nodes = {device["name"]: [node["path"] for node in device["containerEdits"]["deviceNodes"]] for device in spec["devices"]}
assert sorted(nodes) == sorted([str(i) for i in range(8)] + ["all"]), nodes
assert nodes["7"] == ["/dev/dri/card57", "/dev/dri/renderD184", "/dev/kfd"], nodes["7"]
assert len(nodes["all"]) == 17 and len(set(nodes["all"])) == 17, nodes["all"]
PY
said "$work/root/etc/kubernetes/node-feature-discovery/features.d/amd-gpu" amd.com/gpu.device-id=74a1
slipway plan --sim "$machine" --root "$work/root" -f node.yaml >"$work/plan" ||
  fail "a second apply would change something: $(cat "$work/plan")"
slipway verify --sim "$machine" --root "$work/root" -f node.yaml >"$work/verified" || fail "verify does not pass: $(cat "$work/verified")"
said "$work/verified" "8 GPUs on the PCI bus"
slipway remove --yes --all --root "$work/root"
[[ $(paths "$work/root") == "$before" ]] || fail "removal left: $(paths "$work/root")"

# Before amdgpu is loaded there are no nodes, and on a simulated machine no module is loaded.
sed '/^modules:/,$d' "$machine" >"$work/bare.yaml"
slipway plan --sim "$work/bare.yaml" --root "$work/root" -f node.yaml >"$work/plan" && fail "nothing is planned"
said "$work/plan" "load amdgpu with noretry=0"
said "$work/plan" "which devices there are is seen at the first boot"
slipway plugin check "$work/host/usr/lib/slipway/plugins/rocm.so" --sim "$work/bare.yaml" -f node.yaml >"$work/checked" &&
  fail "a component that plans nothing is no failure: $(cat "$work/checked")"
said "$work/checked" "rocm-cdi plans nothing"

# An image has no devices: actions that need them are left to the first boot.
slipway plan --without-slipway --root "$work/root" -f node.yaml >"$work/plan" && fail "nothing is planned"
said "$work/plan" "at the first boot"
