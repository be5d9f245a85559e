#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kubernetes.sh - kubelet and kube-apiserver 1.20.2 built from Debian's source package, kept; prints the folder.
#
# Debian packages the sources only. They are compiled once per machine (about ten minutes on two cores) into
# CACHE/kubernetes-VERSION; a later call only looks there. Building is in GOPATH mode with Debian's Go 1.19.
#
# Usage: kubernetes.sh        (environment: see lib.sh)

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

K8S_PROGRAMS=(kubelet kube-apiserver)

# source_folder DIR : lets apt fetch, check and unpack the source package into DIR; prints the tree.
source_folder() {
  local dir="$1"
  update_apt
  sed -n 's/^deb /deb-src /p' "$E2E_CACHE/apt/sources.list" >"$E2E_CACHE/apt/sources.src"
  cat "$E2E_CACHE/apt/sources.src" >>"$E2E_CACHE/apt/sources.list"
  private_apt apt-get update >&2
  (cd "$dir" && private_apt apt-get source --only-source kubernetes >&2)
  find "$dir" -maxdepth 1 -type d -name 'kubernetes-*' | head -n 1
}

# compile TREE OUT : builds the programs, without debug information, into OUT.
compile() {
  local tree="$1" out="$2" gopath
  gopath="$(mktemp -d "$E2E_CACHE/.gopath.XXXXXX")"
  mkdir -p "$gopath/src/k8s.io" "$out"
  ln -s "$tree" "$gopath/src/k8s.io/kubernetes"
  export GOPATH="$gopath" GO111MODULE=off GOFLAGS="-p=2" GOCACHE="$gopath/cache" PATH="/usr/lib/go-1.19/bin:$PATH"
  cd "$gopath/src/k8s.io/kubernetes"
  make generated_files >"$out/build.log" 2>&1 || die "see $out/build.log"
  for program in "${K8S_PROGRAMS[@]}"; do
    make WHAT="cmd/$program" GOLDFLAGS="-s -w" >>"$out/build.log" 2>&1 || die "see $out/build.log"
    install -m 755 "$(find _output -path "*/bin/*/$program" -type f -o -path "*/bin/$program" -type f | head -n 1)" "$out/$program"
  done
  cd /
  chmod -R u+w "$gopath"
  rm -rf "$gopath"
}

build() {
  local work tree
  [[ -x "$OUT/kubelet" && -x "$OUT/kube-apiserver" ]] && return
  need apt-get dpkg-source make rsync gcc
  [[ -x /usr/lib/go-1.19/bin/go ]] || die "not installed: golang-1.19-go"
  work="$(mktemp -d "$E2E_CACHE/.kubernetes.XXXXXX")"
  tree="$(source_folder "$work")"
  log "compiles ${K8S_PROGRAMS[*]} from $(basename "$tree"), once"
  compile "$tree" "$work/out"
  mkdir -p "$OUT"
  mv "$work"/out/* "$OUT/"
  rm -rf "$work"
}

OUT="$E2E_CACHE/kubernetes-1.20.2"
with_lock kubernetes build
printf '%s\n' "$OUT"
