#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/bare-root.sh - makes a root filesystem of Debian bookworm with nothing but what every installation has.
#
# debootstrap runs once (variant minbase, no further packages); the result is kept as a tarball in the cache and unpacked
# from there. Its apt has no package lists, and knows the mirrors that this machine's apt knows.
#
# Usage: bare-root.sh DIR

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# bootstrap TARBALL : creates the tarball; the incomplete tree is removed in any case.
bootstrap() {
  local tarball="$1" mirror started=$SECONDS words
  mirror="$(mirror_of "$E2E_SUITE")"
  [[ -n "$mirror" ]] || die "no apt source of this machine serves $E2E_SUITE"
  WORK="$(mktemp -d "$E2E_CACHE/root.XXXXXX")"
  trap 'rm -rf "$WORK"' EXIT
  words=(--variant=minbase "$E2E_SUITE" "$WORK/root" "$mirror")
  [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || words=(--no-check-gpg "${words[@]}")
  log "debootstrap of $E2E_SUITE, minbase"
  debootstrap "${words[@]}" >"$tarball.log" 2>&1 || die "debootstrap failed: $(tail -n 3 "$tarball.log")"
  rm -rf "$WORK"/root/var/cache/apt/* "$WORK"/root/var/lib/apt/lists/* "$WORK"/root/run/* "$WORK"/root/tmp/*
  rm -f "$WORK"/root/etc/{resolv.conf,hostname}
  : >"$WORK/root/etc/machine-id"
  tar --create --numeric-owner --xattrs --acls --sort=name --directory "$WORK/root" . |
    zstd -q -T0 -3 -o "$tarball.new" --force
  mv "$tarball.new" "$tarball"
  log "made $(basename "$tarball") in $((SECONDS - started)) s"
}

ensure_tarball() { [[ -f "$1" ]] || bootstrap "$@"; }

# connect ROOT : gives its apt and resolver the same sources as here.
connect() {
  local root="$1" suite mirror bundle=/etc/ssl/certs/ca-certificates.crt
  for suite in "$E2E_SUITE" "$E2E_SUITE-updates" "$E2E_SUITE-security"; do
    mirror="$(mirror_of "$suite")"
    [[ -z "$mirror" ]] || printf 'deb %s %s main\n' "$mirror" "$suite"
  done >"$root/etc/apt/sources.list"
  apt-config dump | grep -iE '^Acquire::(https?|ftp)::(proxy|no-proxy)' >"$root/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp -L /etc/hosts "$root/etc/hosts"
  printf 'bare\n' >"$root/etc/hostname"
  # This machine will not lose power: packages need not wait for the disk, file by file.
  printf 'force-unsafe-io\n' >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  # A mirror behind TLS needs to be trusted before ca-certificates can be installed from it.
  if grep -q 'https:' "$root/etc/apt/sources.list" && [[ -f $bundle ]]; then
    install -D -m 644 "$bundle" "$root/etc/apt/mirror-ca.crt"
    printf 'Acquire::https::CAInfo "/etc/apt/mirror-ca.crt";\n' >"$root/etc/apt/apt.conf.d/91mirror-ca"
  fi
}

main() {
  local key tarball
  (($# == 1)) || die "usage: bare-root.sh DIR"
  need debootstrap tar zstd sha256sum flock python3 apt-config
  [[ "$(id -u)" == 0 ]] || die "must run as root (debootstrap and device nodes)"
  [[ ! -e "$1" || -z "$(ls -A "$1")" ]] || die "$1 exists and is not empty"
  key="$(printf '%s\n' "$E2E_SUITE" "$(declare -f bootstrap)" | sha256sum | cut -c 1-12)"
  tarball="$E2E_CACHE/bare-$key.tar.zst"
  with_lock "bare-$key" ensure_tarball "$tarball"
  mkdir -p "$1"
  tar --extract --numeric-owner --xattrs --xattrs-include='*' --acls --zstd --file "$tarball" --directory "$1"
  connect "$1"
}

main "$@"
