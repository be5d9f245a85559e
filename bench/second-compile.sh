#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/second-compile - how long an apply compiles modules, and how long one needs that finds them in the cache: in a
# second root, and again after a removal. The same for the hook that runs when a kernel is installed. Needs root, and gcc.
#
# Without a package of your own it compiles SLIPWAY_BENCH_SOURCES (default 100) generated files. For the real driver:
# SLIPWAY_BENCH_PACKAGE=LAYOUT, which has its source, and SLIPWAY_BENCH_ROOT=FOLDER, with compiler, make and headers; the
# hook is left out then, since it needs the headers of a second kernel.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VERSION="${SLIPWAY_BENCH_VERSION:-535.261.03}"
KERNEL="${SLIPWAY_BENCH_KERNEL:-6.1.0-50-amd64}"
LATER="6.1.0-56-amd64"

# compiler_root ROOT : this machine's gcc and make with what they need, and headers without a header for two kernels.
compiler_root() {
  local name file files kernel build
  mkdir -p "$1"/usr/{bin,include,lib,lib64} "$1"/{etc,proc,sys,dev,run,tmp,var/tmp}
  for name in bin lib lib64; do ln -sfn "usr/$name" "$1/$name"; done
  mapfile -t files < <(for name in sh make gcc as ld strip; do command -v "$name"; done; gcc -print-prog-name=cc1)
  mapfile -t files < <(printf '%s\n' "${files[@]}"; ldd "${files[@]}" | grep -o '/[^ :]* ' | tr -d ' ')
  for file in "${files[@]}"; do
    mkdir -p "$1$(dirname "$file")"
    [[ -e $1$file ]] || cp -L "$file" "$1$file"
  done
  for kernel in "$KERNEL" "$LATER"; do
    build="$1/lib/modules/$kernel/build"
    mkdir -p "$build/include/generated"
    : >"$1/lib/modules/$kernel/modules.builtin"
    : >"$1/lib/modules/$kernel/modules.order"
    echo 'all:' >"$build/Makefile"
    printf 'CONFIG_CC_VERSION_TEXT="%s"\n' "$(gcc --version | head -n 1)" >"$build/.config"
    printf '#define UTS_RELEASE "%s"\n' "$kernel" >"$build/include/generated/utsrelease.h"
  done
}

# source_package : sets LAYOUT to a package with generated source of one module.
source_package() {
  local top="$SCRATCH/source-package" lib="usr/lib/x86_64-linux-gnu" i
  local source="$top/source/usr/src/nvidia" drivers="application/vnd.slipway.driver"
  mkdir -p "$source" "$top/userspace/$lib" "$top/userspace/usr/bin"
  : >"$top/userspace/usr/bin/nvidia-smi"
  for name in libcuda.so libnvidia-ml.so; do
    : >"$top/userspace/$lib/$name.$VERSION"
    ln -s "$name.$VERSION" "$top/userspace/$lib/$name.1"
  done
  for ((i = 0; i < ${SLIPWAY_BENCH_SOURCES:-100}; i++)); do
    awk -v file="$i" 'BEGIN { for (n = 0; n < 200; n++)
      printf "int f%d_%d(int* a, int b) { for (int i = 0; i < b; ++i) a[i] = a[i] * %d + a[b - i - 1]; return a[0]; }\n", file, n, n }' \
      >"$source/f$i.c"
  done
  # shellcheck disable=SC2016 # it is for make and gcc
  printf '%s\n' 'OBJECTS := $(patsubst %.c,%.o,$(wildcard f*.c))' 'modules: nvidia.ko' \
    '%.o: %.c' '	gcc -O2 -ffreestanding -c -o $@ $<' 'info.o: info.c' '	gcc -ffreestanding -DRELEASE=\"$(KERNEL_UNAME)\" -c -o $@ $<' \
    'nvidia.ko: $(OBJECTS) info.o' '	ld -r -o $@ $^' '	: > Module.symvers' >"$source/Makefile"
  printf 'const char info[] __attribute__((section(".modinfo"), used)) = "vermagic=" RELEASE " SMP \\0version=%s\\0license=Dual MIT/GPL";\n' \
    "$VERSION" >"$source/info.c"
  python3 - "$VERSION" "$drivers" "$lib" >"$top/package.yaml" <<'PYTHON'
import json, sys
version, drivers, lib = sys.argv[1:]
def layer(name, note, value):
    return {"directory": name, "mediaType": f"{drivers}.{name}.v1.tar+zstd", "compression": "zstd",
            "annotations": {"dev.slipway.layer": name, note: json.dumps(value)}}
layers = [layer("userspace", "dev.slipway.driver.files",
                {"libdir": lib, "libraries": ["libcuda.so.1", "libnvidia-ml.so.1"], "tools": ["nvidia-smi"], "icds": []}),
          layer("source", "dev.slipway.driver.source", {"directory": "usr/src/nvidia", "modules": ["nvidia"]})]
print(json.dumps({"artifactType": drivers + ".v1", "tag": version, "manifests": [
    {"tag": version + "-source", "layers": layers,
     "annotations": {"dev.slipway.driver.version": version, "dev.slipway.driver.flavour": "open"}}]}))
PYTHON
  LAYOUT="$SCRATCH/package"
  "$SLIPWAY" pkg build "$top" --to "$LAYOUT" >/dev/null
}

# new_root ROOT
new_root() {
  if [[ -n ${SLIPWAY_BENCH_ROOT:-} ]]; then cp -a --reflink=auto "$SLIPWAY_BENCH_ROOT" "$1"; else compiler_root "$1"; fi
}

# timed STEP COMMAND... : prints the seconds of the step that begins with the word, and of the whole command.
timed() {
  local step="$1" start="$EPOCHREALTIME" begin="" end="" line
  shift
  while read -r line; do
    printf '%s\n' "$line"
    if [[ -n $begin && -z $end && $line != *"$step NVIDIA"* ]]; then end="$EPOCHREALTIME"; fi
    if [[ -z $begin && $line == *"$step NVIDIA"* ]]; then begin="$EPOCHREALTIME"; fi
  done < <("$@" 2>&1) >"$SCRATCH/output"
  [[ -n $end ]] || die "no step '$step': $(cat "$SCRATCH/output")"
  awk -v start="$start" -v begin="$begin" -v end="$end" -v now="$EPOCHREALTIME" \
    'BEGIN { printf "%.3f %.3f\n", end - begin, now - start }'
}

# report NAME COMMAND... : runs a function that prints the two numbers.
report() {
  local name="$1" step whole numbers
  shift
  numbers="$("$@")" || exit 1
  read -r step whole <<<"$numbers"
  printf '  %-45s %8s s, the whole command %8s s\n' "$name" "$step" "$whole"
}

again() {
  for ((i = 0; i < RUNS; i++)); do
    "$SLIPWAY" remove --all --yes --root "$SCRATCH/second" >/dev/null 2>&1
    timed taking "${APPLY[@]}" || return
  done >"$SCRATCH/again"
  printf '%s %s\n' "$(cut -d ' ' -f 1 "$SCRATCH/again" | median)" "$(cut -d ' ' -f 2 "$SCRATCH/again" | median)"
}

hook() {
  timed "$1" "$SLIPWAY" kernel installed "$LATER" --root "$2" --cache "$SCRATCH/cache"
}

((EUID == 0)) || die "compiling in a root needs root"
scratch_folder
if [[ -n ${SLIPWAY_BENCH_PACKAGE:-} ]]; then LAYOUT="$(realpath "$SLIPWAY_BENCH_PACKAGE")"; else source_package; fi
cat >"$SCRATCH/host.yaml" <<YAML
apiVersion: slipway.dev/v1
kind: Host
metadata: {name: bench}
spec:
  hardware: assume
  components:
    driver: {version: "$VERSION", modules: open, precompiled: never, source: {repository: "$LAYOUT", trust: unsigned}}
YAML
new_root "$SCRATCH/first"
new_root "$SCRATCH/second"

echo "an apply that compiles, and applies that do not"
machine
apply_command "$SCRATCH/first"
show "${APPLY[@]}"
report 'the modules, compiled' timed compiling "${APPLY[@]}"
apply_command "$SCRATCH/second"
report 'from the cache, in a second root (goal: 1 s)' timed taking "${APPLY[@]}"
report "again after a removal, median of $RUNS" again
if [[ -z ${SLIPWAY_BENCH_ROOT:-} ]]; then
  report 'the hook of another kernel, compiled' hook compiling "$SCRATCH/first"
  report 'the hook, from the cache (whole: 3 s)' hook taking "$SCRATCH/second"
fi
