#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/side_by_side.py RUNS NAME COMMAND... -- NAME COMMAND... - runs two commands in turns, and prints for each the median
# wall-clock time and the peak memory of its largest process, and the first as a part of the second.

import os
import shutil
import statistics
import subprocess
import sys
import time

WARM_UP = 3
MEMORY_RUNS = 5


def once(command):
    """Seconds of one run; the process inherits nothing but standard error."""
    silent = os.open(os.devnull, os.O_RDWR)
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, silent, 0), (os.POSIX_SPAWN_DUP2, silent, 1), (os.POSIX_SPAWN_DUP2, silent, 2)])
    _, status, _ = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    os.close(silent)
    if status != 0:
        sys.exit(f"{' '.join(command)}: ended with status {os.waitstatus_to_exitcode(status)}")
    return seconds


def peak_kib(command):
    """ru_maxrss of one run. By time(1), a small program: what a process had before it became the command counts too, and
    this interpreter has more than most commands."""
    done = subprocess.run(["time", "--format", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=True, executable=shutil.which("time", path="/usr/bin:/bin"))
    return int(done.stderr.splitlines()[-1])


def compare(runs, sides, prepare=None):
    """`sides`: (name, command) each; `prepare` is called before each run. The figures: (median seconds, KiB) of each."""
    seen = {name: [] for name, _ in sides}
    for turn in range(WARM_UP + runs):
        for name, command in sides:
            if prepare:
                prepare()
            seconds = once(command)
            if turn >= WARM_UP:
                seen[name].append(seconds)
    figures = []
    for name, command in sides:
        print(f"  $ {' '.join(map(str, command))}")
        kib = []
        for _ in range(MEMORY_RUNS):
            if prepare:
                prepare()
            kib.append(peak_kib(command))
        figures.append((statistics.median(seen[name]), max(kib)))
        print(f"{name:>24}: {figures[-1][0] * 1000:7.2f} ms (median of {runs}, least {min(seen[name]) * 1000:.2f}), "
              f"{figures[-1][1] / 1024:6.1f} MiB")
    (first, first_kib), (second, second_kib) = figures[:2]
    print(f"{'first / second':>24}: {first / second:.2f} of the time, {first_kib / second_kib:.2f} of the memory")
    return figures


def main():
    runs, words = int(sys.argv[1]), sys.argv[2:]
    middle = words.index("--")
    compare(runs, [(side[0], side[1:]) for side in (words[:middle], words[middle + 1:])])


if __name__ == "__main__":
    main()
