#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/fetch-debs.sh - brings Debian's exact driver and kernel packages into the cache and prints their folder.
#
# Two sets: the open driver 535.261.03 (source, user space, GSP firmware), and kernel headers for the kernel that it
# compiles on and for the one that it does not. apt checks size and hash of what it downloads against the signed lists;
# the hashes are kept, so that a later run with everything in place only hashes the files and needs no network.
#
# Usage: fetch-debs.sh        (environment: see lib.sh)

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

DEBS="$E2E_CACHE/debs"
DRIVER_PACKAGES=(
  nvidia-open-kernel-dkms nvidia-open-kernel-support firmware-nvidia-gsp nvidia-smi
  libcuda1 libcudadebugger1 libnvidia-ml1 libnvidia-cfg1 libnvidia-nvvm4 libnvidia-ptxjitcompiler1
  libnvidia-pkcs11-openssl3 libnvcuvid1 libnvidia-encode1
)

# Prints the version of the package, or stops with the kernels that the mirror has instead.
kernel_version_of() {
  local version have
  version="$(private_apt apt-cache show "$1" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1 || true)"
  if [[ -z "$version" ]]; then
    have="$(private_apt apt-cache pkgnames linux-headers-6.1 | grep 'amd64$' | grep -vE 'cloud|rt-' | sort -V | xargs)"
    die "the mirror has no $1; set SLIPWAY_E2E_KERNEL / SLIPWAY_E2E_TRAP_KERNEL to one of: ${have//linux-headers-/}"
  fi
  printf '%s\n' "$version"
}

# tool_spec NAME VERSION : NAME=VERSION; if the mirror no longer has that version of a tool shared by several kernels,
# the newest one, which the headers' own dependency (>= VERSION) also accepts.
tool_spec() {
  local have version="$2"
  have="$(private_apt apt-cache show "$1" 2>/dev/null | sed -n 's/^Version: //p' || true)"
  if ! grep -qxF -- "$version" <<<"$have"; then
    version="$(head -n 1 <<<"$have")"
    dpkg --compare-versions "${version:-0}" ge "$2" || die "the mirror has no $1 of version $2 or newer"
    log "takes $1 $version; the mirror no longer has $2"
  fi
  printf '%s=%s\n' "$1" "$version"
}

# header_specs RELEASE : NAME=VERSION of all packages that compiling a module for that kernel needs.
header_specs() {
  local release="$1" version
  version="$(kernel_version_of "linux-headers-$release")"
  printf '%s=%s\n' "linux-headers-$release" "$version" "linux-headers-${release%-amd64}-common" "$version"
  tool_spec linux-kbuild-6.1 "$version"
  tool_spec linux-compiler-gcc-12-x86 "$version"
}

wanted_specs() {
  local headers trap_headers
  headers="$(header_specs "$E2E_KERNEL")"
  trap_headers="$(header_specs "$E2E_TRAP_KERNEL")"
  printf "%s=$E2E_DRIVER_VERSION-1\n" "${DRIVER_PACKAGES[@]}"
  printf '%s\n' "$headers" "$trap_headers" "linux-image-$E2E_KERNEL=$(kernel_version_of "linux-image-$E2E_KERNEL")"
}

# The names that select the packages; kept beside the hashes, so that another kernel or list is fetched again.
wanted_key() { printf '%s ' "${DRIVER_PACKAGES[@]}" "$E2E_DRIVER_VERSION" "$E2E_KERNEL" "$E2E_TRAP_KERNEL"; }

complete() {
  [[ -f SHA256SUMS && "$(cat KEY 2>/dev/null)" == "$(wanted_key)" ]] && sha256sum --check --quiet SHA256SUMS 2>/dev/null
}

# Downloads missing or wrong files among the lines `'URI' FILE SIZE SHA256:HEX` of the list.
download() {
  local uri file size hash missing=()
  while read -r uri file size hash; do
    printf '%s  %s\n' "${hash#SHA256:}" "$file"
  done <"$1" >SHA256SUMS.new
  while read -r uri file size hash; do
    [[ "$hash" == SHA256:* ]] || die "the package lists give no SHA-256 for $uri"
    sha256sum --check --status <(printf '%s  %s\n' "${hash#SHA256:}" "$file") 2>/dev/null && continue
    rm -f "$file"
    missing+=("$file")
    log "needs $file ($((size / 1024)) KiB)"
  done <"$1"
  ((${#missing[@]} == 0)) || private_apt apt-get download "${SPECS[@]}"
  sha256sum --check --quiet SHA256SUMS.new
  mv SHA256SUMS.new SHA256SUMS
  wanted_key >KEY
}

fetch() {
  mkdir -p "$DEBS"
  cd "$DEBS"
  if complete; then
    log "all $(wc -l <SHA256SUMS) packages are in the cache"
    return
  fi
  update_apt
  wanted_specs >specs
  mapfile -t SPECS <specs
  private_apt apt-get download --print-uris "${SPECS[@]}" >uris
  download uris
  rm -f uris specs
  log "$(wc -l <SHA256SUMS) packages, $(du -sh . | cut -f 1)"
}

need apt-get apt-cache dpkg python3 flock sha256sum
with_lock debs fetch
printf '%s\n' "$DEBS"
