#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/startup - how long the program takes to print its version, its help, and a shell's completions, which shells and
# users wait for.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scratch_folder
echo "slipway version, --help, completion bash"
machine
show "$SLIPWAY" version
hyperfine --shell=none --warmup 20 --runs "${SLIPWAY_BENCH_RUNS:-200}" "true" "$SLIPWAY version" "$SLIPWAY --help" "$SLIPWAY completion bash"
