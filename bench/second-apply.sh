#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/second-apply - how long an apply takes that has nothing to do, without any network.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scratch_folder
SLIPWAY_BENCH_MIB="${SLIPWAY_BENCH_MIB:-32}" make_package
mkdir -p "$SCRATCH/root"
apply_command "$SCRATCH/root"
"${APPLY[@]}" >/dev/null
"${APPLY[@]}" | grep -q 'Nothing to do' || die "the second apply changed something"

echo "second apply"
machine
show "${APPLY[@]}"
# A network namespace of its own has no way out: what needs a network fails.
offline=()
unshare --net true 2>/dev/null && offline=(unshare --net)
"${offline[@]}" hyperfine --shell=none --warmup 3 --runs 30 "$(printf '%q ' "${APPLY[@]}")"
