#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/side_by_side.py RUNS NAME COMMAND... -- NAME COMMAND... [-- NAME COMMAND...] - runs commands in turns, and
# prints for each the median wall-clock time, the median processor time and the peak memory of its largest process, and
# the ratio of the first to the second. The third is work that both have to do: the ratio is printed again without it.
# On a machine with other users, look at the processor time.

import os
import shutil
import statistics
import subprocess
import sys
import time

WARM_UP = 3
MEMORY_RUNS = 5


def once(command):
    """Returns the seconds of one run; the process inherits only standard error."""
    return times_of(command)[0]


def times_of(command):
    """Returns the seconds of one run, and its processor seconds."""
    silent = os.open(os.devnull, os.O_RDWR)
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, silent, 0), (os.POSIX_SPAWN_DUP2, silent, 1), (os.POSIX_SPAWN_DUP2, silent, 2)])
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    os.close(silent)
    if status != 0:
        sys.exit(f"{' '.join(command)}: ended with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime


def peak_kib(command):
    """Returns ru_maxrss of one run, from time(1), a small program: the memory before the exec counts too, and
    this interpreter has more than most commands."""
    done = subprocess.run(["time", "--format", "%M", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=True, executable=shutil.which("time", path="/usr/bin:/bin"))
    return int(done.stderr.splitlines()[-1])


def compare(runs, sides, prepare=None):
    """`sides`: (name, command) each; `prepare` is called before each run. Returns (median seconds, median processor
    seconds, KiB) of each."""
    seen = {name: [] for name, _ in sides}
    for turn in range(WARM_UP + runs):
        for name, command in sides:
            if prepare:
                prepare()
            times = times_of(command)
            if turn >= WARM_UP:
                seen[name].append(times)
    figures = []
    for name, command in sides:
        print(f"  $ {' '.join(map(str, command))}")
        kib = []
        for _ in range(MEMORY_RUNS):
            if prepare:
                prepare()
            kib.append(peak_kib(command))
        walls, processor = zip(*seen[name])
        figures.append((statistics.median(walls), statistics.median(processor), max(kib)))
        print(f"{name:>24}: {figures[-1][0] * 1000:7.2f} ms (median of {runs}, least {min(walls) * 1000:.2f}), "
              f"{figures[-1][1] * 1000:7.2f} ms of the processor, {figures[-1][2] / 1024:6.1f} MiB")
    (first, first_cpu, first_kib), (second, second_cpu, second_kib) = figures[:2]
    print(f"{'first / second':>24}: {first / second:.2f} of the time, {first_cpu / second_cpu:.2f} of the processor time, "
          f"{first_kib / second_kib:.2f} of the memory")
    return figures


def compare_without(runs, sides):
    """Compares two sides, and a third that both contain; the last line has the time of the first two without it."""
    (first, *_), (second, *_), (common, *_) = compare(runs, sides)
    print(f"{'both without the third':>24}: {(first - common) * 1000:.2f} ms and {(second - common) * 1000:.2f} ms, "
          f"{(first - common) / (second - common):.2f}")


def library_opener(folder):
    """Builds a program that only opens the library that it is given."""
    program = os.path.join(folder, "open-library")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "open_library.c")
    subprocess.run(["gcc", "-O2", "-o", program, source, "-ldl"], check=True)
    return program


def main():
    runs, words = int(sys.argv[1]), sys.argv[2:]
    sides = [[]]
    for word in words:
        if word == "--":
            sides.append([])
        else:
            sides[-1].append(word)
    sides = [(side[0], side[1:]) for side in sides]
    (compare_without if len(sides) == 3 else compare)(runs, sides)


if __name__ == "__main__":
    main()
