#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/arm64-debs.sh - downloads Debian's packages of the driver and of a kernel for arm64 into the cache and
# prints their folder.
#
# By the apt for arm64 that arm64-sysroot.sh has made; apt checks size and hash against the signed lists.
#
# Usage: arm64-debs.sh        (environment: see lib.sh)

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

DEBS="$E2E_CACHE/arm64/debs"
CONFIG="$E2E_CACHE/arm64/apt/apt.conf"
PACKAGES=(nvidia-open-kernel-dkms firmware-nvidia-gsp nvidia-smi libcuda1 libcudadebugger1 libnvidia-ml1 libnvidia-cfg1
  libnvidia-nvvm4 libnvidia-ptxjitcompiler1 libnvcuvid1)
IMAGE="linux-image-${E2E_KERNEL%-amd64}-arm64"

fetch() {
  mkdir -p "$DEBS"
  cd "$DEBS"
  if [[ "$(cat KEY 2>/dev/null)" == "${PACKAGES[*]} $E2E_DRIVER_VERSION $IMAGE" ]]; then
    log "the driver's arm64 packages are in the cache"
    return
  fi
  [[ -f $CONFIG ]] || die "there is no apt for arm64 yet: ./dev arm64 makes it"
  rm -f ./*.deb
  apt-get -qq -c "$CONFIG" download "${PACKAGES[@]/%/=$E2E_DRIVER_VERSION-1}" "$IMAGE"
  printf '%s\n' "${PACKAGES[*]} $E2E_DRIVER_VERSION $IMAGE" >KEY
  log "$(du -sh . | cut -f 1) of packages"
}

need apt-get flock
with_lock arm64 fetch
printf '%s\n' "$DEBS"
