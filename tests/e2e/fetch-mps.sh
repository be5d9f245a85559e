#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/fetch-mps.sh - brings Debian's nvidia-cuda-mps into the cache, unpacked, and prints the folder. Nothing is
# installed. It is not among the packages of fetch-debs.sh: a driver package would take it along.
#
# Usage: fetch-mps.sh        (environment: see lib.sh)

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FOLDER="$E2E_CACHE/mps-$E2E_DRIVER_VERSION"

fetch() {
  [[ ! -x "$FOLDER/usr/bin/nvidia-cuda-mps-control" ]] || return 0
  local fresh="$FOLDER.new"
  update_apt
  rm -rf "$fresh" && mkdir -p "$fresh"
  # apt checks size and hash against the signed lists.
  (cd "$fresh" && private_apt apt-get download "nvidia-cuda-mps=$E2E_DRIVER_VERSION-1")
  dpkg-deb -x "$fresh"/nvidia-cuda-mps_*.deb "$fresh"
  rm -rf "$FOLDER" && mv "$fresh" "$FOLDER"
}

need apt-get dpkg-deb flock
with_lock mps fetch
printf '%s\n' "$FOLDER"
