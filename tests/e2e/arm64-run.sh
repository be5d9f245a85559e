#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/arm64-run.sh - runs a command in an environment that can execute arm64 programs, children included.
#
# A mount namespace has the arm64 loader and libraries beside the machine's own in /usr/lib, and the kernel hands arm64
# programs to qemu-user (binfmt_misc with flag F). Since Linux 6.7 a user namespace can have its own binfmt_misc: then
# it is invisible to other processes, and needs no privilege. On an older kernel root's registration applies to the
# whole machine, and is removed at the end. Child processes do not outlive the command: its pid namespace ends with it.
#
# Usage: arm64-run.sh FOLDER COMMAND...     FOLDER: what arm64-sysroot.sh printed
# Exit status: the command's; 77 when this machine cannot do it.

set -euo pipefail

FORMATS=/proc/sys/fs/binfmt_misc
NAME=qemu-aarch64
# A 64-bit little-endian ELF file for machine 183, a program or a shared object.
HEAD='\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
MASK='\xff\xff\xff\xff\xff\xff\xff\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'

SEPARATE=(--mount --propagation private --pid --fork --kill-child)

# Runs in the new namespaces.
enter() {
  local status=0
  mount -t proc proc /proc
  mount -t overlay overlay -o "lowerdir=$FOLDER/prefix/usr:/usr" /usr
  [[ $PRIVATE == no ]] || {
    mount -t binfmt_misc binfmt_misc "$FORMATS"
    register
  }
  cd "$PWD" # enters the new mounts
  "$@" || status=$? # no exec: process 1 has to wait for orphans
  exit "$status"
}

register() { printf '%s' ":$NAME:M::$HEAD:$MASK:$FOLDER/qemu-aarch64-static:FP" >"$FORMATS/register"; }

has_private_formats() {
  unshare --user --map-root-user "${SEPARATE[@]}" \
    sh -c 'mount -t proc proc /proc && mount -t binfmt_misc binfmt_misc "$1"' sh "$FORMATS" 2>/dev/null
}

# Users and groups keep their numbers if root may map them; else the caller is the only one, as root.
map_ids() {
  if ((EUID == 0)); then
    echo '0 0 4294967295' >"/proc/$1/uid_map"
    echo '0 0 4294967295' >"/proc/$1/gid_map"
  else
    echo deny >"/proc/$1/setgroups"
    echo "0 $EUID 1" >"/proc/$1/uid_map"
    echo "0 $(id -g) 1" >"/proc/$1/gid_map"
  fi
}

cannot() {
  echo "arm64-run: left out: this kernel has no binfmt_misc, or one that only root may use (before Linux 6.7)" >&2
  exit 77
}

run_privately() {
  local status=0 pid
  PIPES="$(mktemp -d)"
  trap 'rm -rf "$PIPES"' EXIT
  mkfifo "$PIPES/made" "$PIPES/mapped"
  PRIVATE=yes unshare --user "${SEPARATE[@]}" bash -c \
    'echo >"$1/made" && read -r _ <"$1/mapped" && shift && exec "$@"' bash "$PIPES" "$SELF" --inside "$FOLDER" "$@" <&0 &
  pid=$!
  read -r _ <"$PIPES/made"
  map_ids "$pid"
  echo >"$PIPES/mapped"
  wait "$pid" || status=$?
  return "$status"
}

run_for_all() {
  local status=0 mounted=''
  modprobe -q binfmt_misc 2>/dev/null || true # it may be built into the kernel
  if [[ ! -e $FORMATS/register ]]; then
    mount -t binfmt_misc binfmt_misc "$FORMATS" 2>/dev/null || cannot
    mounted=yes
  fi
  # shellcheck disable=SC2064 # what is mounted now
  if [[ ! -e $FORMATS/$NAME ]]; then
    trap "echo -1 >$FORMATS/$NAME; ${mounted:+umount $FORMATS}" EXIT
    register
  fi
  PRIVATE=no unshare "${SEPARATE[@]}" "$SELF" --inside "$FOLDER" "$@" || status=$?
  return "$status"
}

SELF="$(realpath "${BASH_SOURCE[0]}")"
if [[ ${1:-} == --inside ]]; then
  FOLDER="$2"
  shift 2
  enter "$@"
fi
(($# > 1)) || { echo "usage: arm64-run.sh FOLDER COMMAND..." >&2 && exit 64; }
FOLDER="$(realpath "$1")"
shift
if has_private_formats; then
  run_privately "$@"
elif ((EUID == 0)); then
  run_for_all "$@"
else
  cannot
fi
