#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/started-dockerd.sh - starts the dockerd of a root, and prints what it says of itself (`docker info`, JSON).
#
# It runs in namespaces of its own, with its state in memory and without a network, and nothing of it stays. Where it does
# not start, its last lines go to standard error, and the status is 1.
#
# Usage: started-dockerd.sh ROOT [FLAG...]

set -euo pipefail

# shellcheck disable=SC2016 # the inner bash expands its own parameters
INSIDE='
set -euo pipefail
root=$1
shift
mount -t sysfs none "$root/sys"
mkdir -p "$root/sys/fs/cgroup" "$root/var/lib/docker"
mount -t cgroup2 none "$root/sys/fs/cgroup" 2>/dev/null || mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/run"
mount -t tmpfs none "$root/var/lib/docker"
chroot "$root" dockerd --bridge=none --iptables=false --storage-driver=vfs -H unix:///run/docker.sock "$@" \
  >"$root/run/dockerd.log" 2>&1 &
daemon=$!
for ((tries = 0; tries < 300; ++tries)); do
  if chroot "$root" docker -H unix:///run/docker.sock version >/dev/null 2>&1; then
    chroot "$root" docker -H unix:///run/docker.sock info --format "{{json .}}"
    exit 0
  fi
  kill -0 "$daemon" 2>/dev/null || break
  sleep 0.2
done
tail -n 5 "$root/run/dockerd.log" >&2
exit 1
'
exec unshare --mount --pid --net --fork --mount-proc="$1/proc" --kill-child bash -c "$INSIDE" -- "$@"
