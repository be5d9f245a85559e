#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# e2e_run.sh SOURCE - runs tests/e2e/run with this file's tests: a part that is left out has not passed, unless that was
# requested or has a reason on the list.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/e2e"
cp "$1/tests/e2e/run" "$work/e2e/run"

fail() {
  printf 'e2e_run: %s; it said:\n%s\n' "$1" "$said" >&2
  exit 1
}

# e2e OUTPUT LIST WORD... : runs a test that prints this, with this list; sets `said` and `status`.
e2e() {
  printf 'print("""%s""")\n' "$1" >"$work/e2e/sample.py"
  printf '%s\n' "$2" >"$work/skips-allowed"
  status=0
  said="$("$work/e2e/run" "${@:3}" 2>&1)" || status=$?
}

e2e '3 passed, 0 failed' '' sample
((status == 0)) || fail "a test that passes fails"
e2e $'ok - one\n2 passed, 1 failed' '' sample
grep -qx '2 passed, 1 failed' <<<"$said" || fail "it does not count"
e2e 'left out: needs what is missing' '' sample
((status == 1)) || fail "a test that was left out passes"
grep -qE '^sample .*FAILED, since something was left out' <<<"$said" || fail "it does not say why"
e2e $'helper: left out: half of it\n3 passed, 0 failed' '' sample
((status == 1)) || fail "a test that was left out in part passes"
e2e 'left out: needs what is missing' '' --no-boot sample
((status == 0)) || fail "what was asked to be left out fails"
e2e 'left out: needs what is missing' 'e2e  sample  no machine of ours has it' sample
((status == 0)) || fail "what the list gives a reason for fails"
e2e 'left out: needs what is missing' 'e2e  sample' sample
((status == 1)) || fail "a name without a reason is taken"
e2e '' '' sample
((status == 1)) || fail "a test that says nothing passes"
