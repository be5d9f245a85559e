#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# portable.sh SOURCE BUILD - makes the portable folder, moves it to a path with a space, and uses it there: it loads
# none of this machine's libraries, a simulated NVML answers, and units of its root use its path.
set -euo pipefail
source_dir=$1 build_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'portable: %s\n' "$1" >&2
  exit 1
}

"$source_dir/deploy/portable/make-folder" "$build_dir" "$work/made"
there="$work/root/an odd place/slipway"
mkdir -p "$(dirname "$there")"
mv "$work/made" "$there"
slipway=("$there/bin/slipway")

# Checks with the loader, file by file, that every loaded library is from the folder.
loader=("$there/libexec/slipway/"ld-*)
while IFS= read -r -d '' file; do
  listed="$("${loader[0]}" --library-path "$there/lib/slipway/libraries" --list "$file")" || fail "$file: $listed"
  strangers="$(grep -vF "$there/" <<<"$listed" | grep -vE 'linux-vdso|statically linked' || true)"
  [[ -z "$strangers" ]] || fail "$file would load of this machine: $strangers"
done < <(find "$there/lib/slipway" "$there/libexec/slipway/slipway-artifact.so" -type f \
  \( -name '*.so' -o -path '*/programs/*' -o -path '*/sim/*.so*' \) -print0)

[[ "$("${slipway[@]}" version)" == "$("$build_dir/bin/slipway" version)" ]] || fail "it says another version"
"${slipway[@]}" plugin list | grep -q '^deviceplugin ' || fail "its plugins are not found"
"${slipway[@]}" gfd labels --sim h100x2 | grep -qx 'nvidia.com/gpu.count=2' || fail "the simulated NVML does not answer"

cat >"$work/host.yaml" <<'SPEC'
apiVersion: slipway.dev/v1
kind: Host
metadata: {name: portable}
spec:
  components:
    deviceplugin: {}
    validator: {port: 0, node: portable, checks: [driver]}
SPEC
on_root=(--root "$work/root" --sim "h100x2,driver=550.90.07" --cache "$work/cache")
"${slipway[@]}" apply --yes "${on_root[@]}" -f "$work/host.yaml" >/dev/null || fail "apply failed"
"${slipway[@]}" verify "${on_root[@]}" -f "$work/host.yaml" | grep -q 'pass  validator.driver' || fail "verify does not pass"
grep -qxF 'ExecStart="/an odd place/slipway/bin/slipway" service deviceplugin --boot' \
  "$work/root/etc/systemd/system/slipway-deviceplugin.service" || fail "the service's unit names another slipway"
grep -qxF 'ExecStart="/an odd place/slipway/bin/slipway" apply --boot' \
  "$work/root/etc/systemd/system/slipway-boot.service" || fail "the boot unit names another slipway"
"${slipway[@]}" remove --yes --all "${on_root[@]}" >/dev/null || fail "remove failed"
[[ ! -e "$work/root/etc/systemd" ]] || fail "remove left units"

# A program that was copied out of the folder explains the problem.
cp "$there/libexec/slipway/slipway-engine" "$work/alone"
said="$("$work/alone" version 2>&1)" && fail "a program without its folder ran"
grep -q "is a part of slipway's portable folder" <<<"$said" || fail "it said: $said"
mv "$there" "$work/a:b"
said="$("$work/a:b/bin/slipway" plugin list 2>&1)" && fail "it ran from a path with a colon"
grep -q 'has a colon' <<<"$said" || fail "it said: $said"
