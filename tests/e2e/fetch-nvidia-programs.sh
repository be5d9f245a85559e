#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/fetch-nvidia-programs.sh - brings the two packages of NVIDIA's that unit tests run, nvidia-smi and
# libnvidia-ml1, into the cache and prints their folder: one megabyte of what fetch-debs.sh fetches.
#
# Usage: fetch-nvidia-programs.sh        (environment: see lib.sh)

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

DEBS="$E2E_CACHE/debs"

# A file is moved to its place after apt has checked its size and hash against the signed lists.
fetch() {
  local name fresh="$DEBS/new" missing=()
  for name in nvidia-smi libnvidia-ml1; do
    [[ -f "$DEBS/${name}_$E2E_DRIVER_VERSION-1_amd64.deb" ]] || missing+=("$name=$E2E_DRIVER_VERSION-1")
  done
  ((${#missing[@]})) || return 0
  update_apt
  rm -rf "$fresh" && mkdir -p "$fresh"
  (cd "$fresh" && private_apt apt-get download "${missing[@]}")
  mv "$fresh"/*.deb "$DEBS" && rmdir "$fresh"
}

need apt-get python3 flock
with_lock debs fetch
printf '%s\n' "$DEBS"
