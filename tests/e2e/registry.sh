#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/registry.sh - a real OCI registry (Debian's docker-registry) on a free loopback port, all in one folder.
#
# Usage: registry.sh start DIR [--tls] [--basic USER:PASSWORD | --token USER:PASSWORD]
#        registry.sh stop DIR
# `start` prints the address (127.0.0.1:PORT) and leaves in DIR:
#   address, log            where it listens, what it logs
#   storage/                its blobs
#   ca.crt                  with --tls: the private CA that a client must be told of
#   docker/config.json      with a user: credentials as docker and skopeo keep them (DOCKER_CONFIG=DIR/docker)
# --token puts a token server beside it, as public registries have: 401, `Bearer realm=...`, a signed token.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SERVICE=slipway-e2e

# make_certificates DIR : creates a private CA and a server certificate for the loopback names.
make_certificates() {
  local dir="$1"
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=$SERVICE CA" \
    -keyout "$dir/ca.key" -out "$dir/ca.crt" 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout "$dir/server.key" -out "$dir/server.csr" 2>/dev/null
  openssl x509 -req -in "$dir/server.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -CAcreateserial -days 30 \
    -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n') \
    -out "$dir/server.crt" 2>/dev/null
  rm -f "$dir/server.csr" "$dir/ca.srl"
}

# wait_for_line LOG PATTERN PID : prints the first match in the log; stops when the process ends or 20 s have passed.
wait_for_line() {
  local found
  for _ in $(seq 200); do
    found="$(grep -oE "$2" "$1" | head -n 1 || true)"
    [[ -n "$found" ]] && printf '%s\n' "$found" && return
    kill -0 "$3" 2>/dev/null || die "did not start: $(tail -n 3 "$1")"
    sleep 0.1
  done
  die "not ready after 20 s; see $1"
}

start_token_server() {
  local dir="$1" user="$2" tls=()
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=$SERVICE tokens" \
    -keyout "$dir/token.key" -out "$dir/token.crt" 2>/dev/null
  [[ ! -f "$dir/server.crt" ]] || tls=(--tls "$dir/server.crt" "$dir/server.key")
  python3 "$E2E_DIR/token_server.py" --user "$user" --service "$SERVICE" \
    --key "$dir/token.key" --cert "$dir/token.crt" "${tls[@]}" >"$dir/token.log" 2>&1 </dev/null &
  printf '%s\n' "$!" >"$dir/token.pid"
  wait_for_line "$dir/token.log" 'https?://[0-9.]+:[0-9]+/token' "$!"
}

# write_config DIR BASIC TOKEN_REALM : writes the registry's YAML; port 0 lets the kernel choose a free one.
write_config() {
  local dir="$1" basic="$2" realm="$3"
  printf 'version: 0.1\nlog: {level: info, formatter: text}\n'
  printf 'storage: {filesystem: {rootdirectory: "%s/storage"}, delete: {enabled: true}}\n' "$dir"
  printf 'http:\n  addr: 127.0.0.1:0\n'
  [[ ! -f "$dir/server.crt" ]] || printf '  tls: {certificate: "%s/server.crt", key: "%s/server.key"}\n' "$dir" "$dir"
  if [[ -n "$basic" ]]; then
    printf 'auth: {htpasswd: {realm: %s, path: "%s/htpasswd"}}\n' "$SERVICE" "$dir"
  elif [[ -n "$realm" ]]; then
    printf 'auth: {token: {realm: "%s", service: %s, issuer: %s, rootcertbundle: "%s/token.crt"}}\n' \
      "$realm" "$SERVICE" "$SERVICE" "$dir"
  fi
}

start() {
  local dir basic="" token="" realm="" address
  mkdir -p "$1"
  dir="$(cd "$1" && pwd)"
  shift
  [[ ! -f "$dir/pid" ]] || die "a registry runs in $dir already; stop it first"
  # shellcheck disable=SC2064 # the folder of now; cleared when all is well
  trap "stop '$dir'" EXIT
  while (($# > 0)); do
    case "$1" in
      --tls) make_certificates "$dir" ;;
      --basic) basic="$2" && shift ;;
      --token) token="$2" && shift ;;
      *) die "unknown option $1" ;;
    esac
    shift
  done
  [[ -z "$basic" ]] || htpasswd -Bbn "${basic%%:*}" "${basic#*:}" >"$dir/htpasswd"
  [[ -z "$token" ]] || realm="$(start_token_server "$dir" "$token")"
  write_config "$dir" "$basic" "$realm" >"$dir/config.yml"
  docker-registry serve "$dir/config.yml" >"$dir/log" 2>&1 </dev/null &
  printf '%s\n' "$!" >"$dir/pid"
  address="$(wait_for_line "$dir/log" 'listening on 127\.0\.0\.1:[0-9]+' "$!")"
  address="${address##* }"
  if [[ -n "$basic$token" ]]; then
    mkdir -p "$dir/docker"
    printf '{"auths":{"%s":{"auth":"%s"}}}\n' "$address" "$(printf %s "$basic$token" | base64 -w 0)" \
      >"$dir/docker/config.json"
  fi
  trap - EXIT
  printf '%s\n' "$address" | tee "$dir/address"
}

# runs PID DIR : true when the process exists and belongs to this folder (process ids are reused).
runs() { tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "$2/"; }

stop() {
  local dir file pid
  dir="$(cd "$1" && pwd)"
  for file in "$dir/pid" "$dir/token.pid"; do
    [[ -f "$file" ]] || continue
    pid="$(cat "$file")"
    ! runs "$pid" "$dir" || kill "$pid" 2>/dev/null || true
    # Another call started it, so it cannot be waited for as a child.
    while runs "$pid" "$dir"; do sleep 0.05; done
    rm -f "$file"
  done
}

need docker-registry openssl htpasswd python3
(($# >= 2)) || die "usage: registry.sh start DIR [--tls] [--basic USER:PASSWORD | --token USER:PASSWORD] | stop DIR"
case "$1" in
  start | stop) "$@" ;;
  *) die "unknown command $1" ;;
esac
