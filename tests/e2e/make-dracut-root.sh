#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/make-dracut-root.sh - the root of make-root.sh with Debian's dracut and plymouth in place of initramfs-tools.
#
# The packages are downloaded once and kept in the cache; dracut's package makes the initrd, for any machine.
#
# Usage: make-dracut-root.sh DIR

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

DEBS="$E2E_CACHE/dracut-debs"

# fetch ROOT : downloads the packages that the root lacks; apt uses the root's list of installed packages.
fetch() {
  if compgen -G "$DEBS/dracut_*.deb" >/dev/null; then return; fi
  mkdir -p "$DEBS.new/partial"
  update_apt
  private_apt apt-get --yes --no-install-recommends --download-only \
    -o Dir::State::Status="$1/var/lib/dpkg/status" -o Dir::Cache::Archives="$DEBS.new" install dracut plymouth
  rm -rf "$DEBS"
  mv "$DEBS.new" "$DEBS"
}

in_root() { chroot "$1" env -i PATH=/usr/sbin:/usr/bin SOURCE_DATE_EPOCH="$E2E_SOURCE_DATE_EPOCH" "${@:2}"; }

main() {
  (($# == 1)) || die "usage: make-dracut-root.sh DIR"
  "$E2E_DIR/make-root.sh" --with-libraries "$1"
  with_lock dracut-debs fetch "$1"
  mkdir "$1/debs"
  cp "$DEBS"/*.deb "$1/debs"
  rm "$1/boot/initrd.img-$E2E_KERNEL"
  mkdir -p "$1/etc/dracut.conf.d"
  printf 'compress=zstd\n' >"$1/etc/dracut.conf.d/10-distribution.conf" # gzip takes minutes
  {
    in_root "$1" dpkg --purge --force-depends initramfs-tools initramfs-tools-core
    in_root "$1" sh -c 'dpkg --install /debs/*.deb'
  } >"$1/debs.log" 2>&1 || die "dracut cannot be installed: $(tail -n 5 "$1/debs.log")"
  [[ -f "$1/boot/initrd.img-$E2E_KERNEL" ]] || die "dracut made no initrd: $(tail -n 5 "$1/debs.log")"
  rm -rf "$1/debs" "$1/debs.log" "$1"/run/* "$1"/tmp/*
}

need apt-get dpkg chroot
main "$@"
