#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/check-registry.sh - checks the test registry itself: each kind takes a push with the right word, no other.
#
# Usage: check-registry.sh        needs docker-registry, skopeo, curl

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

WORK="$(mktemp -d)"
PASSED=0 FAILED=0

finish() {
  local dir
  for dir in "$WORK"/*/; do
    "$E2E_DIR/registry.sh" stop "$dir"
  done
  rm -rf "$WORK"
}
trap finish EXIT

# make_layout DIR : creates an OCI layout with one tagged artifact of a few bytes.
make_layout() {
  python3 - "$1" <<'PYTHON'
import hashlib, json, pathlib, sys
root = pathlib.Path(sys.argv[1])
(root / "blobs/sha256").mkdir(parents=True)
def blob(media_type, data, **more):
    digest = hashlib.sha256(data).hexdigest()
    (root / "blobs/sha256" / digest).write_bytes(data)
    return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data), **more}
oci = "application/vnd.oci.image."
manifest = {"schemaVersion": 2, "mediaType": oci + "manifest.v1+json",
            "config": blob(oci + "config.v1+json", b"{}"), "layers": [blob(oci + "layer.v1.tar", b"layer")]}
entry = blob(oci + "manifest.v1+json", json.dumps(manifest).encode(), 
             annotations={"org.opencontainers.image.ref.name": "one"})
(root / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
(root / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
PYTHON
}

# expect NAME yes|no COMMAND... : checks that the command succeeds, or fails, as expected.
expect() {
  local name="$1" wanted="$2" got=no
  shift 2
  "$@" >"$WORK/out" 2>&1 && got=yes
  if [[ "$got" == "$wanted" ]]; then
    PASSED=$((PASSED + 1))
  else
    FAILED=$((FAILED + 1))
    log "FAILED: $name (expected success: $wanted): $(tail -n 1 "$WORK/out")"
  fi
}

push() { skopeo copy -q "${@:2}" "oci:$WORK/layout:one" "docker://$1/nvidia/driver:one"; }

# check KIND OPTIONS... : starts that kind and pushes to it in allowed and forbidden ways.
check() {
  local dir="$WORK/$1" address tls=(--dest-tls-verify=false) good=(--authfile="$WORK/nobody.json")
  address="$("$E2E_DIR/registry.sh" start "$dir" "${@:2}")"
  if [[ -f "$dir/ca.crt" ]]; then
    mkdir "$dir/certs" && cp "$dir/ca.crt" "$dir/certs/"
    tls=(--dest-cert-dir="$dir/certs")
    expect "$1: a client without the CA is refused" no push "$address" "${good[@]}"
  fi
  if [[ -f "$dir/docker/config.json" ]]; then
    good=(--authfile="$dir/docker/config.json")
    sed 's/"auth":"[^"]*"/"auth":"'"$(printf 'someone:wrong' | base64)"'"/' "$dir/docker/config.json" >"$dir/wrong.json"
    expect "$1: nobody is refused" no push "$address" "${tls[@]}" --authfile="$WORK/nobody.json"
    expect "$1: a wrong password is refused" no push "$address" "${tls[@]}" --authfile="$dir/wrong.json"
  fi
  expect "$1: a push works" yes push "$address" "${tls[@]}" "${good[@]}"
  expect "$1: it is stored" yes test -e "$dir/storage/docker/registry/v2/repositories/nvidia/driver/_manifests/tags/one"
  "$E2E_DIR/registry.sh" stop "$dir"
  expect "$1: it is gone after stop" no curl -sk "https://$address/v2/" "http://$address/v2/"
}

need docker-registry skopeo curl python3
make_layout "$WORK/layout"
printf '{"auths":{}}\n' >"$WORK/nobody.json"
check plain
check tls --tls
check basic --basic user:pass:word
check token --token user:password
check tls-token --tls --token user:password
printf '%s passed, %s failed\n' "$PASSED" "$FAILED"
((FAILED == 0))
