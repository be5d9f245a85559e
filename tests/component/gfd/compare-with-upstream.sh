#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/component/gfd/compare-with-upstream.sh - compares the labels of NVIDIA's gpu-feature-discovery and slipway on
# the same simulated library. bench/labels.sh measures time and memory of a pass.
#
# Usage: compare-with-upstream.sh GPU-FEATURE-DISCOVERY SLIPWAY-BIN-FOLDER      (as root: it mounts over /sys in private)
# The first is built from NVIDIA/k8s-device-plugin v0.20.0: go build ./cmd/gpu-feature-discovery
set -eu
UPSTREAM=$(realpath "$1")
BIN=$(realpath "$2")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
LIBRARY=$("$BIN/slipway-sim" library)

# label_upstream PROFILE STRATEGY CONFIG: sorted labels without the time.
label_upstream() {
  rm -rf "$WORK/m" "$WORK/root" && mkdir -p "$WORK/root"
  "$BIN/slipway-sim" "$WORK/m" make "$1"
  "$BIN/slipway-sim" "$WORK/m" tree "$1" "$WORK/root"
  SLIPWAY_SIM="$WORK/m" LD_LIBRARY_PATH="$LIBRARY" unshare -m sh -c '
    mount --bind "$1/root/sys" /sys
    shift; exec "$@"' sh "$WORK" "$UPSTREAM" --oneshot --no-timestamp --use-node-feature-api=false --output-file= \
    --fail-on-init-error=true --mig-strategy="$2" --config-file="$3" 2> "$WORK/log" | sort
}

FAILED=0
compare() { # PROFILE STRATEGY [CONFIG]
  CONFIG=${3:-/dev/null}
  [ "$CONFIG" = /dev/null ] && CONFIG="$WORK/empty.yaml" && echo 'version: v1' > "$CONFIG"
  label_upstream "$1" "$2" "$CONFIG" > "$WORK/theirs" || { echo "FAIL $1 $2: upstream:"; tail -3 "$WORK/log"; FAILED=1; return; }
  "$BIN/slipway" gfd labels --no-timestamp --mig-strategy "$2" --config-file "$CONFIG" --sim "$1" | sort > "$WORK/ours"
  if diff "$WORK/theirs" "$WORK/ours" > "$WORK/diff"; then
    echo "same $1 $2 ($(wc -l < "$WORK/ours") labels)"
  else
    echo "FAIL $1 $2"; cat "$WORK/diff"; FAILED=1
  fi
}

cat > "$WORK/shared.yaml" <<'YAML'
version: v1
sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}, {name: nvidia.com/mig-1g.10gb, replicas: 2}]}}
YAML
cat > "$WORK/mps.yaml" <<'YAML'
version: v1
sharing: {mps: {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: 8}]}}
YAML
for PROFILE in v100x8 v100sxm3x16 t4x4 a10gx4 l4x1 l40sx4 a30x2 a100-40x8 a100-80x8 h100x8 h200x8 rtx-pro-6000x8 b200x8 gb200x4; do
  compare $PROFILE none
  compare $PROFILE none "$WORK/shared.yaml"
done
compare empty none
compare l4x1,vgpu=550.54.16/r550_40 none
compare h100x8 single
compare t4x4 none "$WORK/mps.yaml"
compare h100x8,mig=1g.10gb single
compare h100x8,mig=1g.10gb mixed "$WORK/shared.yaml"
compare h100x8,mig=on single
compare a100-40x8,mig=3g.20gb/2g.10gb/1g.5gb mixed
compare a100-40x8,mig=3g.20gb/2g.10gb/1g.5gb single
compare a30x2,mig=1g.6gb+me/1g.6gb mixed
compare rtx-pro-6000x8,mig=1g.24gb+gfx mixed
compare rtx-pro-6000x8,mig=2g.48gb-me single
compare b200x8,mig=1g.23gb mixed

exit $FAILED
