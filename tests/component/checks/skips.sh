#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# skips.sh SOURCE PROGRAM CTEST - runs tests/check-skips on CTest's report about a program with a skipped and a disabled
# test.
set -euo pipefail
source_dir=$1 program=$2 ctest=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'skips: %s; it said:\n%s\n' "$1" "$said" >&2
  exit 1
}

# check TESTS LIST : runs these tests and judges them by this list; sets `said` and `status`.
check() {
  printf '%s\n' "$1" >"$work/CTestTestfile.cmake"
  printf '%s\n' "$2" >"$work/list"
  "$ctest" --test-dir "$work" --output-junit "$work/tests.xml" --test-output-size-passed 100000000 >/dev/null
  status=0
  said="$("$source_dir/tests/check-skips" asan "$work/tests.xml" "$work/list" 2>&1)" || status=$?
}

# Like gtest_discover_tests(): one process per test.
alone="add_test(Sample.Passes $program --gtest_filter=Sample.Passes)
add_test(Sample.LacksSomething $program --gtest_filter=Sample.LacksSomething)
set_tests_properties(Sample.LacksSomething PROPERTIES SKIP_REGULAR_EXPRESSION \"\\\\[  SKIPPED \\\\]\")
add_test(Sample.IsNotRun $program --gtest_filter=Sample.DISABLED_IsNotRun)
set_tests_properties(Sample.IsNotRun PROPERTIES DISABLED TRUE)"

check "$alone" ''
((status == 1)) || fail "a skipped test passes"
grep -qF 'Sample.LacksSomething: there is no such thing here' <<<"$said" || fail "its reason is missing"
grep -qF 'Sample.IsNotRun: it is disabled' <<<"$said" || fail "a disabled test is not named"
! grep -qF 'Sample.Passes' <<<"$said" || fail "it names a test that passed"

check "$alone" $'asan  Sample\\.Lacks.*  this machine has none\nany  Sample\\.IsNotRun  it never ends'
((status == 0)) || fail "what is listed with a reason makes it fail"
check "$alone" $'release  Sample\\.Lacks.*  this machine has none\nany  Sample\\.IsNotRun  it never ends'
((status == 1)) || fail "what is listed for another build passes"
check "$alone" 'asan  Sample\.Lacks.*'
((status == 1)) && grep -q "list:1: expected" <<<"$said" || fail "a line without a reason is taken"

# As with sanitizers: one process for all tests, which CTest reports as passed.
check "add_test(sample_test $program)" ''
((status == 1)) || fail "a test that is skipped within a program passes"
grep -qF 'Sample.LacksSomething: there is no such thing here' <<<"$said" || fail "the skipped test is not named"
grep -qF 'sample_test: 1 of its tests are disabled' <<<"$said" || fail "the disabled test is not named"

check "add_test(Sample.Passes $program --gtest_filter=Sample.Passes)" ''
((status == 0)) || fail "tests that all ran make it fail"
