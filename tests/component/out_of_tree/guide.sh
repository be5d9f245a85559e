#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guide.sh SOURCE BUILD COMPILER [SANITIZERS] - follows docs/plugin-authors.md with only the installed SDK, which comes
# from a build tree, or from an installation: then BUILD is its prefix. Compiles the page's C++, one block after the
# other, builds the plugin of its first blocks and one with a service, runs the test, and has slipway check, apply and
# remove it, and plan for the profile. The compiler's messages name the lines of the page; a block of a language or kind
# that nothing here uses fails. Prints the time it took. A build with sanitizers only compiles.
set -euo pipefail
source_dir=$1 build_dir=$2 compiler=$3 sanitizers=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=docs/plugin-authors.md

fail() {
  printf 'guide: %s\n' "$1" >&2
  exit 1
}
# block LANGUAGE PATTERN : prints the first block of that language with a line that matches the pattern.
block() {
  awk -v language="$1" -v pattern="$2" '
    $0 == "```" language { inside = 1; text = ""; fits = 0; next }
    /^```$/ { if (inside && fits) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n"; if ($0 ~ pattern) fits = 1 }' "$source_dir/$page" | grep . ||
    fail "the page has no block of $1 with $2"
}
slipway() { SLIPWAY_PLUGIN_PATH="$work/build" "$build_dir/bin/slipway" "$@"; }

began=$SECONDS
prefix=$build_dir
if [[ -f $build_dir/CMakeCache.txt ]]; then
  prefix=$work/prefix
  cmake --install "$build_dir" --component sdk --prefix "$prefix" >/dev/null
fi
cd "$source_dir"
awk '/^```cpp$/ { inside = 1; printf "#line %d \"%s\"\n", NR + 1, FILENAME; next } /^```$/ { inside = 0 }
  inside && !/#include "acme.cpp"/' "$page" >"$work/guide.cpp"
"$compiler" -std=c++20 -fsyntax-only -Wall -Werror -I "$prefix/include" "$work/guide.cpp"
[[ -z $sanitizers ]] || exit 0

mkdir "$work/acme"
cd "$work/acme"
block cmake find_package.slipway >CMakeLists.txt
block cmake enable_testing >>CMakeLists.txt
block yaml '^component: acme' >manifest.yaml
block yaml '^kind: Host' >acme.yaml
block cpp SLIPWAY_PLUGIN >acme.cpp
block cpp acme.cpp >acme_test.cpp
cmake -S . -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS=-O0 >"$work/log" || fail "$(cat "$work/log")"
cmake --build "$work/build" -j2 >"$work/log" || fail "$(cat "$work/log")"
ctest --test-dir "$work/build" --output-on-failure >"$work/log" || fail "$(cat "$work/log")"
slipway plugin check "$work/build/acme.so" || fail "plugin check does not pass for the first example"
mkdir "$work/root"
slipway apply --yes --without-slipway --root "$work/root" -f acme.yaml
slipway plan --without-slipway --root "$work/root" -f acme.yaml || fail "a second apply would change something"
slipway remove --yes --all --root "$work/root"
[[ -z $(find "$work/root" -mindepth 1 ! -path "$work/root/var*") ]] || fail "removal left something: $(find "$work/root")"

printf 'guide: from an empty root to remove in %d s\n' $((SECONDS - began))

# The profile: a machine without the plugin's device, where the plugin has nothing to do.
block yaml '^apiVersion: slipway.dev/sim/v1' >"$work/mi300.yaml"
cp "$work/mi300.yaml" .
slipway detect --sim ./mi300.yaml --root "$work/root" -f acme.yaml >"$work/log" || fail "the profile is not read: $(cat "$work/log")"
grep -q 'no NVIDIA GPU on the PCI bus' "$work/log" || fail "the profile is another machine: $(cat "$work/log")"

# The service: in the plugin itself, and in a library beside it.
mkdir "$work/served"
(
  cd "$work/served"
  { block cmake find_package.slipway | grep -v slipway_add_plugin && block cmake SERVICE_SOURCES | sed 's/microhttpd/m/'; } >CMakeLists.txt
  { block yaml '^component: acme' | sed '/^spec:/,$d' && block yaml '^service_needs:' | sed 's/service: plugin/service: beside/' &&
    printf 'spec:\n  output: {type: string, default: /var/lib/acme/state, help: where the state is}\n'; } >manifest.yaml
  { printf '#include <slipway/plugin.hpp>\nusing namespace slipway;\n' && block cpp 'class Watch'; } >service.cpp
  cat >acme.cpp <<'CPP'
#include <slipway/plugin.hpp>
using namespace slipway;
class Acme final : public Component {
 public:
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return Plan(); }
};
SLIPWAY_PLUGIN(component<Acme>("acme"))
CPP
  printf 'SLIPWAY_PLUGIN(component<ServiceOnly<Watch>>("acme"))\n' >>service.cpp
  cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS=-O0 && cmake --build build -j2
) >"$work/log" 2>&1 || fail "$(cat "$work/log")"
[[ -f $work/served/build/acme.service.so ]] || fail "no service was built"

# Each block of the page is one of those above, or C++.
others=$(awk '/^```[a-z]+$/ { language = substr($0, 4); getline first; if (language == "cpp") next
  if (first !~ /^(cmake_minimum|apiVersion|component: acme|service: plugin|slipway_add_plugin|enable_testing)/) print NR ": " first }' "$source_dir/$page")
[[ -z $others ]] || fail "blocks that nothing tries: $others"

# broken SED-SCRIPT FILE WORDS : expects that the plugin with that mistake does not build, and that the message has
# these words.
broken() {
  cp "$2" "$work/kept"
  sed -i "$1" "$2"
  if cmake --build "$work/build" >"$work/log" 2>&1; then fail "the plugin was built with $1"; fi
  grep -qF -- "$3" "$work/log" || fail "of $1 the build does not say $3: $(cat "$work/log")"
  mv "$work/kept" "$2"
}
broken 's/type: integer/type: number/' manifest.yaml 'manifest.yaml:6:11: error: locked_memory_kib.type: expected one of '
broken 's/component: acme/component: bad/' manifest.yaml "manifest.yaml:1: error: SLIPWAY_PLUGIN() has no component 'bad'; it names acme"
broken '/^SLIPWAY_PLUGIN/d' acme.cpp 'acme.so: error: the library has no function slipway_plugin_open'
sed -i 's/ VERSION 1.0.0//' CMakeLists.txt
if cmake -S . -B "$work/build" >"$work/log" 2>&1; then fail "a plugin without a version was configured"; fi
grep -q "'' is not a version" "$work/log" || fail "$(cat "$work/log")"
sed -i 's/LANGUAGES CXX/LANGUAGES C/' CMakeLists.txt
if cmake -S . -B "$work/c" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then fail "a plugin without C++ was configured"; fi
grep -q "write LANGUAGES CXX" "$work/log" || fail "$(cat "$work/log")"
