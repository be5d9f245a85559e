#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guide.sh SOURCE BUILD COMPILER - compiles the C++ of docs/plugin-authors.md, one block after the other as they stand there,
# against the installed SDK. The compiler's messages name the lines of the page.
set -euo pipefail
source_dir=$1 build_dir=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build_dir" --component sdk --prefix "$work" >/dev/null
cd "$source_dir"
awk '/^```cpp$/ { inside = 1; printf "#line %d \"%s\"\n", NR + 1, FILENAME; next } /^```$/ { inside = 0 } inside' \
  docs/plugin-authors.md >"$work/guide.cpp"
grep -q SLIPWAY_PLUGIN "$work/guide.cpp" || { printf 'guide: the page has no plugin\n' >&2 && exit 1; }
"$compiler" -std=c++20 -fsyntax-only -Wall -Werror -I "$work/include" "$work/guide.cpp"
