#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/make-root.sh - makes a bookworm root filesystem with kernel, initrd and systemd: the bare host to provision.
#
# debootstrap runs once per set of packages; the result is kept as a tarball in the cache and unpacked from there.
# The root is as an image pipeline leaves one: no package lists, an empty machine-id (each boot of a copy gets its own).
#
# Usage: make-root.sh [--with-headers] [--with-libraries] [--with-compilers] [--with-containers] DIR
#   --with-headers    adds gcc-12, make and the kernel's headers, so that modules can be compiled inside
#   --with-libraries  adds what slipway itself is linked with, so that it can run inside
#   --with-compilers  adds what the author of a plugin has: g++, clang, cmake, googletest
#   --with-containers adds containerd and runc
# SOURCE_DATE_EPOCH (default in lib.sh): with the value of then, update-initramfs gives the same initrd again.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES="systemd,systemd-sysv,dbus,kmod,udev,initramfs-tools,zstd,linux-image-$E2E_KERNEL"
LIBRARY_PACKAGES="libarchive13,libcurl4,libelf1,libfmt9,libmicrohttpd12,libprotobuf-lite32,libsqlite3-0,libssl3,libyaml-cpp0.7"
COMPILER_PACKAGES="g++,clang-14,cmake,ninja-build,nlohmann-json3-dev,libgtest-dev,libgmock-dev"
HEADER_PACKAGES="gcc-12,make,linux-headers-$E2E_KERNEL"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$E2E_SOURCE_DATE_EPOCH}"

# tidy_root ROOT : removes files that are specific to one installation.
tidy_root() {
  local root="$1"
  rm -rf "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
  rm -rf "$root"/run/* "$root"/tmp/* "$root"/debootstrap "$root"/var/log/*.log "$root"/var/log/apt/*
  rm -f "$root/var/cache/ldconfig/aux-cache"
  # The first three came from this machine, some with odd modes; the last is made again at boot.
  rm -f "$root"/etc/{resolv.conf,hostname,hosts} "$root/var/lib/dbus/machine-id"
  : >"$root/etc/machine-id"
  printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
  printf 'slipway-e2e\n' >"$root/etc/hostname"
  printf '/dev/vda / ext4 defaults 0 1\n' >"$root/etc/fstab"
}

# bootstrap TARBALL PACKAGES : creates the tarball; the incomplete tree is removed in any case.
bootstrap() {
  local tarball="$1" packages="$2" mirror started=$SECONDS
  mirror="$(mirror_of "$E2E_SUITE")"
  [[ -n "$mirror" ]] || die "no apt source of this machine serves $E2E_SUITE"
  WORK="$(mktemp -d "$E2E_CACHE/root.XXXXXX")"
  trap 'rm -rf "$WORK"' EXIT
  log "debootstrap of $packages"
  debootstrap --variant=minbase --include="$packages" "$E2E_SUITE" "$WORK/root" "$mirror" >"$tarball.log" 2>&1 ||
    die "debootstrap failed: $(tail -n 3 "$tarball.log")"
  [[ -f "$WORK/root/boot/initrd.img-$E2E_KERNEL" ]] || die "the root has no initrd for $E2E_KERNEL; see $tarball.log"
  tidy_root "$WORK/root"
  # The initrd depends on /etc/fstab (which fsck it contains), so it is created again from the current tree.
  chroot "$WORK/root" env -i PATH=/usr/sbin:/usr/bin SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
    update-initramfs -u -k "$E2E_KERNEL" >>"$tarball.log" 2>&1 || die "update-initramfs failed; see $tarball.log"
  tar --create --numeric-owner --xattrs --acls --sort=name --directory "$WORK/root" . |
    zstd -q -T0 -3 -o "$tarball.new" --force
  mv "$tarball.new" "$tarball"
  log "made $(basename "$tarball") in $((SECONDS - started)) s"
}

main() {
  local packages="$PACKAGES" key tarball
  while [[ "${1:-}" == --* ]]; do
    case "$1" in
      --with-headers) packages+=",$HEADER_PACKAGES" ;;
      --with-libraries) packages+=",$LIBRARY_PACKAGES" ;;
      --with-compilers) packages+=",$COMPILER_PACKAGES" ;;
      --with-containers) packages+=",containerd,runc" ;;
      *) die "make-root.sh has no option $1" ;;
    esac
    shift
  done
  (($# == 1)) || die "usage: make-root.sh [--with-headers] [--with-libraries] [--with-compilers] [--with-containers] DIR"
  need debootstrap tar zstd sha256sum flock python3
  [[ "$(id -u)" == 0 ]] || die "must run as root (debootstrap and device nodes)"
  [[ ! -e "$1" || -z "$(ls -A "$1")" ]] || die "$1 exists and is not empty"
  key="$(printf '%s\n' "$packages" "$SOURCE_DATE_EPOCH" "$(declare -f tidy_root bootstrap)" | sha256sum | cut -c 1-12)"
  tarball="$E2E_CACHE/root-$key.tar.zst"
  with_lock "root-$key" ensure_tarball "$tarball" "$packages"
  mkdir -p "$1"
  tar --extract --numeric-owner --xattrs --xattrs-include='*' --acls --zstd --file "$tarball" --directory "$1"
}

ensure_tarball() { [[ -f "$1" ]] || bootstrap "$@"; }

main "$@"
