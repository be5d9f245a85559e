#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/arm64-sysroot.sh - downloads what a build for arm64 needs into the cache and prints its folder.
#
#   sysroot   Debian's arm64 libraries with their headers, unpacked: no maintainer script runs, nothing is installed
#   prefix    the loader, the libraries and a few tools (the same files), for qemu's -L and for a mount over /usr
#   qemu-aarch64-static   runs arm64 programs; from Debian's package, whose binfmt.d files the machine does not get
#
# The machine's own packages, dpkg architectures and apt lists stay as they are.
#
# Usage: arm64-sysroot.sh PACKAGE...        (environment: see lib.sh)

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

ARM64="$E2E_CACHE/arm64"

# write_arm64_config : writes an apt configuration for arm64 beside the one of lib.sh, with the same sources; prints its
# path.
write_arm64_config() {
  local etc="$ARM64/apt"
  mkdir -p "$etc/lists/partial" "$etc/cache/archives/partial"
  : >"$etc/status"
  cp "$E2E_CACHE/apt/sources.list" "$etc/sources.list"
  sed -e "s|\"$E2E_CACHE/apt/|\"$etc/|" -e 's/"amd64"/"arm64"/' "$E2E_CACHE/apt/apt.conf" >"$etc/apt.conf"
  cat >>"$etc/apt.conf" <<'CONF'
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
Debug::NoLocking "true";
CONF
  printf '%s\n' "$etc/apt.conf"
}

# Absolute links (libfoo.so -> /lib/aarch64-linux-gnu/libfoo.so.1) would lead to the machine's own files.
make_links_relative() {
  local link target
  find "$1" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    target="$(readlink "$link")"
    ln -snf --relative "$1$target" "$link"
  done
}

# unpack FOLDER : unpacks all downloaded packages into a new folder with a merged /usr.
unpack() {
  local folder="$1" name package
  for name in bin sbin lib; do
    mkdir -p "$folder/usr/$name"
    ln -s "usr/$name" "$folder/$name"
  done
  for package in "$ARM64"/apt/cache/archives/*.deb; do
    # dpkg-deb -x would replace the link /lib by a folder.
    dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --no-same-owner --directory "$folder" \
      --exclude './usr/share/doc' --exclude './usr/share/man' --exclude './usr/share/locale'
  done
  make_links_relative "$folder"
}

# make_prefix FOLDER : installs the loader of arm64 programs, and the tools by which a root shows its processor and that
# tests put into roots. Of the machine's own files only those tools are hidden.
make_prefix() {
  local tool
  mkdir -p "$1/usr/lib" "$1/usr/bin" "$1/usr/sbin"
  ln -s usr/lib "$1/lib"
  cp -al "$ARM64/sysroot/usr/lib/aarch64-linux-gnu" "$1/usr/lib/"
  ln -s aarch64-linux-gnu/ld-linux-aarch64.so.1 "$1/usr/lib/ld-linux-aarch64.so.1"
  for tool in bin/{sh,dash,cat,cp,env,grep,kmod,ldd,ls} sbin/{depmod,ldconfig,modprobe}; do
    cp -a "$ARM64/sysroot/usr/$tool" "$1/usr/$tool"
  done
}

fetch_emulator() {
  mkdir -p "$ARM64/qemu"
  cd "$ARM64/qemu"
  private_apt apt-get download qemu-user-static
  dpkg-deb --fsys-tarfile qemu-user-static_*.deb | tar --extract --to-stdout ./usr/bin/qemu-aarch64-static >"$ARM64/qemu-aarch64-static.new"
  chmod 755 "$ARM64/qemu-aarch64-static.new"
  mv "$ARM64/qemu-aarch64-static.new" "$ARM64/qemu-aarch64-static"
  rm -rf "$ARM64/qemu"
}

make_all() {
  local config
  mkdir -p "$ARM64"
  # A changed list of packages or script means that everything is rebuilt.
  if [[ "$(cat "$ARM64/KEY" 2>/dev/null)" == "$KEY" ]]; then
    log "the arm64 sysroot is in the cache"
    return
  fi
  update_apt
  config="$(write_arm64_config)"
  apt-get -qq -c "$config" update
  log "downloading the arm64 packages"
  rm -f "$ARM64"/apt/cache/archives/*.deb
  apt-get -qq -y -c "$config" --download-only install "$@" >/dev/null
  fetch_emulator
  rm -rf "$ARM64/sysroot" "$ARM64/sysroot.new" "$ARM64/prefix"
  unpack "$ARM64/sysroot.new"
  mv "$ARM64/sysroot.new" "$ARM64/sysroot"
  make_prefix "$ARM64/prefix"
  rm -f "$ARM64"/apt/cache/archives/*.deb
  printf '%s\n' "$KEY" >"$ARM64/KEY"
  log "$(du -sh "$ARM64/sysroot" | cut -f 1) of sysroot"
}

(($#)) || die "no packages given"
need apt-get dpkg-deb python3 flock sha256sum
KEY="$({ sha256sum <"${BASH_SOURCE[0]}" && printf '%s\n' "$@"; } | sha256sum | cut -d ' ' -f 1)"
with_lock arm64 make_all "$@"
printf '%s\n' "$ARM64"
