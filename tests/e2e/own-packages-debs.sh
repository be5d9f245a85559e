#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/own-packages-debs.sh - downloads what slipway's own packages need beyond make-root.sh's root; prints the folder.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES=(libmicrohttpd12 libprotobuf-lite32)

download() {
  local folder="$1"
  [[ -f "$folder/complete" ]] && return
  rm -rf "$folder"
  mkdir -p "$folder"
  update_apt
  (cd "$folder" && private_apt apt-get download "${PACKAGES[@]}")
  touch "$folder/complete"
}

main() {
  local folder
  folder="$E2E_CACHE/own-debs-$(printf '%s\n' "${PACKAGES[@]}" | sha256sum | cut -c 1-12)"
  with_lock own-debs download "$folder"
  printf '%s\n' "$folder"
}

main "$@"
