#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/second-apply - how long an apply takes that has nothing to do, without any network: for the driver alone, and
# for the whole stack. Every plugin runs.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# whole_stack ROOT : containerd in that root, and all components in the spec.
whole_stack() {
  mkdir -p "$1/etc/containerd" "$1/usr/bin"
  printf 'version = 2\n' >"$1/etc/containerd/config.toml"
  install -m 755 /bin/true "$1/usr/bin/containerd"
  cat >>"$SCRATCH/host.yaml" <<'YAML'
    runtime: {engines: [containerd]}
    cdi: {}
    deviceplugin: {}
    gfd: {}
    validator: {}
YAML
}

# Some checks may fail in a root without the kernel's own modules; what counts here is that no work is left.
settle() {
  "${APPLY[@]}" >/dev/null 2>&1 || true
  "${APPLY[@]}" 2>/dev/null | grep -q 'Nothing to do' || die "the second apply changed something"
}

# A separate network namespace has no connection, so anything that needs a network fails.
offline=()
unshare --net true 2>/dev/null && offline=(unshare --net)

measure() {
  show "${APPLY[@]}"
  "${offline[@]}" hyperfine --shell=none --ignore-failure --warmup 3 --runs "${SLIPWAY_BENCH_RUNS:-30}" \
    --command-name 'nothing has changed' "$(printf '%q ' "${APPLY[@]}")"
}

scratch_folder
SLIPWAY_BENCH_MIB="${SLIPWAY_BENCH_MIB:-32}" make_package
mkdir -p "$SCRATCH/driver" "$SCRATCH/stack"
apply_command "$SCRATCH/driver"
settle
echo "second apply of the driver"
machine
measure

whole_stack "$SCRATCH/stack"
apply_command "$SCRATCH/stack"
settle
echo "second apply of the whole stack: driver, runtime, cdi, deviceplugin, gfd, validator"
measure
