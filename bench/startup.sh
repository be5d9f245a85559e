#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/startup - how long the program takes to say its version, its help, and a shell's completions: what a shell waits
# for at its start, and people at once.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scratch_folder
echo "slipway version, --help, completion bash"
machine
show "$SLIPWAY" version
hyperfine --shell=none --warmup 20 --runs "${SLIPWAY_BENCH_RUNS:-200}" "true" "$SLIPWAY version" "$SLIPWAY --help" "$SLIPWAY completion bash"
