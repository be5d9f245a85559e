#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/engine-root.sh - makes a root filesystem with systemd and the container engines of a Debian suite.
#
# bookworm: containerd 1.6 and Docker 20.10, without CDI. trixie: containerd 1.7 and Docker 26. forky: containerd 2.1.
# debootstrap runs once per suite and list of packages; the result is kept as a tarball in the cache and unpacked from there.
#
# Usage: engine-root.sh SUITE DIR

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES="systemd,systemd-sysv,dbus,kmod,containerd,runc"

# packages_of SUITE : lists the packages to install.
packages_of() {
  case "$1" in
    bookworm) printf '%s,docker.io,iptables\n' "$PACKAGES" ;;
    trixie) printf '%s,docker.io,docker-cli,iptables\n' "$PACKAGES" ;; # only recommended there
    *) printf '%s\n' "$PACKAGES" ;;
  esac
}

# bootstrap TARBALL SUITE : creates the tarball; the incomplete tree is removed in any case.
bootstrap() {
  local tarball="$1" suite="$2" mirror started=$SECONDS words
  mirror="$(mirror_of "$E2E_SUITE")" # one mirror serves all suites
  [[ -n "$mirror" ]] || die "no apt source of this machine serves $E2E_SUITE"
  WORK="$(mktemp -d "$E2E_CACHE/root.XXXXXX")"
  trap 'rm -rf "$WORK"' EXIT
  words=(--variant=minbase --include="$(packages_of "$suite")" "$suite" "$WORK/root" "$mirror")
  [[ -e /usr/share/debootstrap/scripts/$suite ]] || words+=(sid) # a suite that this debootstrap does not know yet
  [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || words=(--no-check-gpg "${words[@]}")
  log "debootstrap of $suite with $(packages_of "$suite")"
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

main() {
  local key tarball
  (($# == 2)) || die "usage: engine-root.sh SUITE DIR"
  need debootstrap tar zstd sha256sum flock python3
  [[ "$(id -u)" == 0 ]] || die "must run as root (debootstrap and device nodes)"
  [[ ! -e "$2" || -z "$(ls -A "$2")" ]] || die "$2 exists and is not empty"
  key="$1-$(printf '%s\n' "$1" "$(packages_of "$1")" "$(declare -f bootstrap)" | sha256sum | cut -c 1-12)"
  tarball="$E2E_CACHE/engine-$key.tar.zst"
  with_lock "engine-$key" ensure_tarball "$tarball" "$1"
  mkdir -p "$2"
  tar --extract --numeric-owner --xattrs --xattrs-include='*' --acls --zstd --file "$tarball" --directory "$2"
}

main "$@"
