#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/side_by_side.py RUNS NAME COMMAND... -- NAME COMMAND... - runs two commands in turns, and prints for each the median
# wall-clock time and the largest peak memory of a process (ru_maxrss), and the first as a part of the second.

import os
import statistics
import sys
import time

WARM_UP = 3


def once(command):
    """Seconds and KiB of one run; the process inherits nothing but standard error."""
    silent = os.open(os.devnull, os.O_RDWR)
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, silent, 0), (os.POSIX_SPAWN_DUP2, silent, 1), (os.POSIX_SPAWN_DUP2, silent, 2)])
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    os.close(silent)
    if status != 0:
        sys.exit(f"{' '.join(command)}: ended with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss


def main():
    runs, words = int(sys.argv[1]), sys.argv[2:]
    middle = words.index("--")
    sides = [(side[0], side[1:], []) for side in (words[:middle], words[middle + 1:])]
    for turn in range(WARM_UP + runs):
        for _, command, seen in sides:
            result = once(command)
            if turn >= WARM_UP:
                seen.append(result)
    figures = []
    for name, command, seen in sides:
        print(f"  $ {' '.join(command)}")
        seconds, kib = statistics.median(s for s, _ in seen), max(k for _, k in seen)
        figures.append((seconds, kib))
        print(f"{name:>24}: {seconds * 1000:7.2f} ms (median of {runs}, least {min(s for s, _ in seen) * 1000:.2f}), "
              f"{kib / 1024:6.1f} MiB")
    (first, first_kib), (second, second_kib) = figures
    print(f"{'first / second':>24}: {first / second:.2f} of the time, {first_kib / second_kib:.2f} of the memory")


if __name__ == "__main__":
    main()
