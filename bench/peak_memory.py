#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/peak_memory.py - runs a command and prints its peak memory, including its child processes.
#
# Two figures: the largest process (ru_maxrss, what `/usr/bin/time -v` calls maximum resident set size), and the highest
# sum over all of them at once (proportional set size, so that shared pages count once; sampled every 5 ms).

import pathlib
import resource
import subprocess
import sys
import time


def children_of(pid):
    """Returns the process and all below it, as far as they can still be read."""
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        found.append(current)
        for listing in pathlib.Path(f"/proc/{current}/task").glob("*/children"):
            try:
                waiting.extend(int(child) for child in listing.read_text().split())
            except OSError:
                pass
    return found


def pss_kib(pid):
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def main():
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak_kib = 0
    while process.poll() is None:
        peak_kib = max(peak_kib, sum(pss_kib(pid) for pid in children_of(process.pid)))
        time.sleep(0.005)
    largest_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"peak memory: {largest_kib / 1024:.1f} MiB largest process, {peak_kib / 1024:.1f} MiB all at once")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
