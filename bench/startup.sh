#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/startup - how long the program takes to say its version: what every command pays before it does anything.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scratch_folder
echo "slipway version"
machine
show "$SLIPWAY" version
hyperfine --shell=none --warmup 20 --runs 200 "$SLIPWAY version" "true"
