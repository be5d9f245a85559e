#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ci_run.sh SOURCE - runs .ci/run with empty steps: a step that fails, hangs or has no time left makes it fail, and each
# part is listed with its seconds.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/.ci"
cp "$1/.ci/run" "$work/.ci/run"

fail() {
  printf 'ci_run: %s; it said:\n%s\n' "$1" "$said" >&2
  exit 1
}

# ci BODY LIMIT [OPTION...] : runs .ci/run with a script of that body as ./dev; sets `said` and `status`.
ci() {
  printf '#!/bin/bash\n%s\n' "$1" >"$work/dev"
  chmod +x "$work/dev"
  status=0
  said="$(SLIPWAY_CI_LIMIT_SECONDS="$2" "$work/.ci/run" "${@:3}" 2>&1)" || status=$?
}

says() { grep -qE -- "$1" <<<"$said"; }

ci 'echo "100% tests passed, 0 tests failed out of 7"' 600
((status == 0)) || fail "it fails when nothing does"
says '^100% tests passed' || fail "the closing line of a test runner is missing"
for name in test lint asan demo e2e; do
  says "^$name +[0-9]+ s  ok$" || fail "the seconds of $name are missing"
done
says '^all +[0-9]+ s$' || fail "the seconds of all are missing"

ci '[[ $1 != lint ]] || exit 3' 600
((status == 1)) || fail "it passes although a part failed"
says '^lint +[0-9]+ s  FAILED with 3$' || fail "it does not say which part failed"
says '^e2e +[0-9]+ s  ok$' || fail "it does not go on after a failure"
says '^FAILED: lint$' || fail "its last line does not name the part"

ci '' 0
((status == 1)) || fail "it passes although parts were left out for time"
says '^test +0 s  LEFT OUT' || fail "it does not say what was left out"

# A hanging step ends with the total time limit.
ci '[[ $1 != asan ]] || sleep 1000' 5
((status == 1)) || fail "it passes although a part was ended"
says '^asan +[0-9]+ s  FAILED: not done' || fail "it does not say which part was ended"
says '^e2e +0 s  LEFT OUT' || fail "it does not say what was left out after that"

ci '' 600 --lnog
((status == 64)) || fail "a word that it does not know is taken"
