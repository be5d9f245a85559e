#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/status.py - keeps docs/status.md, which says when each end-to-end test ran last and how it ended, and chooses
# the tests that are due for another run.
"""Usage: status.py record NAME SECONDS RESULT    writes the row of a test into docs/status.md
       status.py ran NAME                      remembers on this machine that the test ran now
       status.py due SECONDS [NAME…]           prints the tests to run in that time, least recently run first, without NAMEs

RESULT is the closing line of a test: "12 passed, 0 failed", "left out: …" or "ended early: …". `due` chooses among the tests whose
row in docs/status.md has no failure, as a known failure says nothing new. It takes the seconds of each test from that row."""

import datetime
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
PAGE = TREE / "docs" / "status.md"
CACHE = pathlib.Path(os.environ.get("SLIPWAY_E2E_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "slipway-e2e") / "last-runs"
KUBELET_TESTS = ("device_plugin_kubelet", "device_plugins_beside", "kubelet_restarts", "mig_kubelet")
PASSED = re.compile(r"^(\d+) passed, 0 failed$")
HEAD = """# End-to-end tests: when each ran last, and how it ended

`./dev e2e --all` runs every end-to-end test and writes this page; `./dev e2e --record NAME…` writes the rows of those that are
named. `.ci/run` runs five of them each time and, in turn, others that fit into the time it has left (five minutes at least). It fails
when one of them fails.
A dash means that the test has not run since this page exists.

| test | what it shows | result | seconds | commit | date |
|---|---|---|---|---|---|
"""


def described():
    """Returns each test's name and sentence, in the order of the list at the head of tests/e2e/run."""
    lines = (HERE / "run").read_text(encoding="utf-8").splitlines()
    rows = [re.match(r"^#   ([a-z][a-z0-9_]+)  +(\S.*)$", line) for line in lines[lines.index("# Tests:"):]]
    return {row.group(1): row.group(2) for row in rows if row}


def recorded():
    """Returns the cells after the sentence of each row: result, seconds, commit, date."""
    if not PAGE.exists():
        return {}
    rows = [line.strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[-4:]] for row in rows}


def write(rows):
    text = HEAD
    for name, sentence in described().items():
        cells = rows.get(name, ["-", "-", "-", "-"])
        text += f"| `{name}` | {sentence.replace('|', '/')} | {' | '.join(cells)} |\n"
    fresh = PAGE.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.rename(PAGE)


def record(name, seconds, result):
    if name not in described():
        sys.exit(f"status.py: tests/e2e/run does not list {name}")
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=TREE, check=True, capture_output=True, text=True)
    rows = recorded()
    rows[name] = [result.replace("|", "/")[:200], str(int(seconds)), commit.stdout.strip(), datetime.date.today().isoformat()]
    write(rows)


def last_runs():
    if not CACHE.exists():
        return {}
    return dict(line.split() for line in CACHE.read_text(encoding="utf-8").splitlines() if len(line.split()) == 2)


def ran(name):
    runs = last_runs() | {name: datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    CACHE.write_text("".join(f"{key} {value}\n" for key, value in sorted(runs.items())), encoding="utf-8")


def due(seconds, left_out):
    """On a machine without records the number of commits decides where in the list to begin; and tests that need a
    kubelet are left
    out if none was built, because building one takes longer than the whole time limit."""
    if "SLIPWAY_E2E_KUBERNETES" not in os.environ and not list(CACHE.parent.glob("kubernetes-*")):
        left_out = [*left_out, *KUBELET_TESTS]
    commits = int(subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=TREE, check=True, capture_output=True, text=True).stdout)
    rows = {name: row for name, row in recorded().items() if PASSED.match(row[0]) and name in described() and name not in left_out}
    names = list(rows)
    begin = commits % len(names) if names else 0
    runs = last_runs()
    chosen = []
    for name in sorted(names[begin:] + names[:begin], key=lambda each: runs.get(each, "")):
        cost = 1.5 * int(rows[name][1]) + 20  # other machines are slower, and some tests create their root first
        if cost <= seconds:
            seconds -= cost
            chosen.append(name)
    return chosen


def main(words):
    if len(words) == 4 and words[0] == "record":
        return record(*words[1:])
    if len(words) == 2 and words[0] == "ran":
        return ran(words[1])
    if len(words) >= 2 and words[0] == "due":
        return print("\n".join(due(int(words[1]), words[2:])))
    sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
