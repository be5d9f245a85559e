# SPDX-License-Identifier: Apache-2.0
# tests/e2e/traced.py - slipway under strace, which makes a call of its core or of its unpacking worker fail, kills the one
# that does it, or stops the core there. What strace wrote tells whether that happened.

import os
import pathlib
import shutil
import signal
import subprocess
import time

from slipway_host import install_into

STOPPED = "--- stopped by SIGSTOP ---"
# Runs the real worker as the same process that slipway started (-D); only the unpacking one is traced, if a run asks
# for that. Each process has its own log.
WRAPPER = """#!/bin/bash
if [[ $1 == */slipway-artifact.so && -n ${TRACED_WORKER:-} ]]; then
  exec strace -D -f -qq -o "$TRACED_LOG.$$" $TRACED_WORKER "$0.real" "$@"
fi
exec "$0.real" "$@"
"""


class TracedSlipway:
    """Installs slipway below `folder` with the wrapper above as its worker."""

    def __init__(self, folder):
        install_into(folder / "slipway")
        self.program = folder / "slipway/usr/bin/slipway"
        worker = folder / "slipway/usr/libexec/slipway/slipway-worker"
        worker.rename(f"{worker}.real")
        worker.write_text(WRAPPER)
        worker.chmod(0o755)
        self.logs = folder / "logs"

    def fresh_log(self):
        shutil.rmtree(self.logs, ignore_errors=True)
        self.logs.mkdir()
        return self.logs / "log"

    def core(self, options, words):
        """Returns the command line of a run whose core is traced."""
        return ["strace", "-qq", "-o", str(self.fresh_log()), *options, str(self.program), *words]

    def worker(self, options, words, environment):
        """Returns command line and environment of a run whose unpacking worker is traced."""
        log = self.fresh_log()
        return [str(self.program), *words], {**environment, "TRACED_WORKER": " ".join(options), "TRACED_LOG": str(log)}

    def lines(self):
        """Returns strace's lines of the last run, a list for each process or thread."""
        found = {}
        for log in sorted(self.logs.iterdir()):
            for line in log.read_text(errors="replace").splitlines():
                thread, _, rest = line.partition(" ")
                if thread.isdigit():
                    found.setdefault((log.name, thread), []).append(rest.strip())
                else:
                    found.setdefault((log.name, ""), []).append(line)
        return list(found.values())

    def injected(self):
        """Returns whether the requested event happened in the last run. (An error is marked; a signal is printed on
        arrival.)"""
        return any("(INJECTED" in line or line.startswith("+++ killed by SIGKILL") for lines in self.lines() for line in lines)

    def steps(self, calls):
        """Returns (call, number of times that its thread had made it) of each step of the last run, in order, each
        once."""
        steps = {}
        for lines in self.lines():
            seen = {}
            for line in lines:
                call = line.split("(", 1)[0]
                if call in calls:
                    seen[call] = seen.get(call, 0) + 1
                    steps[(call, seen[call])] = True
        return list(steps)


def tracing(calls, *inject):
    """Returns strace's options for these calls; calls that this kernel does not have are ignored."""
    return ["-e", "trace=" + ",".join("?" + call for call in calls), *(word for text in inject for word in ("-e", text))]


class Stopped:
    """A run of slipway whose core strace stops at the n-th time of a call; `pid` is None when that did not happen."""

    def __init__(self, traced, words, environment, call, count):
        options = tracing([call], f"inject={call}:signal=SIGSTOP:when={count}")
        self.tracer = subprocess.Popen(traced.core(options, words), env=environment, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
        log, stopped = traced.logs / "log", False
        while not stopped and self.tracer.poll() is None:
            stopped = log.exists() and STOPPED in log.read_text(errors="replace")
            time.sleep(0.002)
        self.pid = first_child(self.tracer.pid) if stopped else None

    def kill(self, victim):
        """Returns how many processes it killed."""
        below = descendants(self.pid) if victim in ("workers", "both") else []
        killed = sum(kill(pid) for pid in below)
        if victim in ("core", "both"):
            killed += kill(self.pid)
        else:
            os.kill(self.pid, signal.SIGCONT)
        return killed

    def end(self):
        try:
            output, _ = self.tracer.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            kill(self.pid)
            output, _ = self.tracer.communicate()
            return "did not end\n" + output.decode(errors="replace")
        return output.decode(errors="replace")


def first_child(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (OSError, IndexError):
        return None


def descendants(pid):
    found, waiting = [], [pid]
    while waiting:
        for listing in pathlib.Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            try:
                children = [int(child) for child in listing.read_text().split()]
            except OSError:
                children = []
            found += children
            waiting += children
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def kill(pid):
    """Returns whether there was a process to kill."""
    if pid is None or not alive(pid):
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
