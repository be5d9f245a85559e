#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/crash_matrix.py - kills slipway, its workers, or both at every step of an install, an upgrade, a rollback and a
# removal, and runs it again: the same tree and generation as undisturbed, no file left over, nobody at work, no lock.
#
# The clock is the core's own system calls that change files: strace stops it at the n-th of them, and whoever is to die is
# killed then. The same steps also fail with ENOSPC, EIO and EROFS: the tree is the old or the new one, and another run ends as
# undisturbed. Without --full every EVERY-th step is taken, a different one for each kind of victim or error.

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks, differences
from demo_driver import DemoDriver, between, look

EVERY = 17
CALLS = (
    "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir", "mkdir",
    "mkdirat", "fsync", "fdatasync", "syncfs", "ftruncate", "pwrite64", "fchmod", "fchmodat", "fchown", "fchownat",
    "utimensat")

FAILING = ("write", "openat2")  # that fail as well, besides CALLS
VICTIMS = ("core", "workers", "both")
ERRORS = ("ENOSPC", "EIO", "EROFS")


class Stopped:
    """A run of slipway that strace stops at the n-th time that it does a call; `pid` is None when it ended before."""

    def __init__(self, words, environment, call, count):
        self.tracer = subprocess.Popen(
            ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGSTOP:when={count}",
             *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pid = None
        still = 0  # a traced process is also stopped for a moment at each of its calls
        while self.tracer.poll() is None and still < 15:
            child = first_child(self.tracer.pid)
            stopped = child and state(child) in ("T", "t") and not starting(child)
            still = still + 1 if stopped and calls_made(child) == getattr(self, "calls", None) else 0
            self.calls = calls_made(child) if child else None
            time.sleep(0.002)
        self.pid = first_child(self.tracer.pid) if self.tracer.poll() is None else None

    def kill(self, victim):
        below = descendants(self.pid)
        if victim in ("workers", "both"):
            for pid in below:
                kill(pid)
        if victim in ("core", "both"):
            kill(self.pid)
        else:
            os.kill(self.pid, signal.SIGCONT)

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


def state(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def calls_made(pid):
    """Grows whenever the process ran."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return [line for line in status.splitlines() if "ctxt_switches" in line]


def starting(pid):
    """strace stops the process once by itself, before it is slipway."""
    try:
        return "slipway" not in os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return True


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


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Scenario:
    """One command on a copy of one root; `before` makes that root."""

    def __init__(self, driver, name):
        self.driver, self.work, self.name = driver, driver.work, name
        before, self.command = driver.scenarios[name]
        self.words = driver.words
        self.base = self.work / f"base-{name}"
        self.environment = {**driver.environment, "SLIPWAY_CRASH_MATRIX": name}
        driver.prepare(self.base, before)
        done = self.copy()
        self.steps, self.failing_steps = self.list_steps(done)
        self.wanted = look(done)

    def copy(self):
        root = self.work / "root"
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["cp", "-a", str(self.base), str(root)], check=True)
        return root

    def list_steps(self, root):
        """(call, how many times it was done by then) of each step of an undisturbed run; and with those that may fail."""
        log = self.work / "calls"
        subprocess.run(["strace", "-qq", "-o", log, "-e", "trace=" + ",".join("?" + call for call in CALLS + FAILING),
                        *self.words(self.command, root)],
                       env=self.environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen, steps = {}, []
        for line in log.read_text().splitlines():
            call = line.split("(", 1)[0]
            if call in CALLS + FAILING:
                seen[call] = seen.get(call, 0) + 1
                steps.append((call, seen[call]))
        return [step for step in steps if step[0] in CALLS], steps

    def left_over(self):
        names = [str(path) for path in (self.work / "tmp").iterdir()]
        mark = f"SLIPWAY_CRASH_MATRIX={self.name}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    names.append(f"process {folder.name} {(folder / 'cmdline').read_bytes()[:200]!r}")
            except OSError:
                pass
        return names

    def crash(self, step, victim):
        """What is wrong after a death at this step; empty: nothing."""
        root = self.copy()
        run = Stopped(self.words(self.command, root), self.environment, *step)
        if run.pid is None:
            run.end()
            return ""
        run.kill(victim)
        return self.run_again(root, run.end())

    def fail(self, step, error):
        """What is wrong after this step failed with this error."""
        root = self.copy()
        call, count = step
        ran = subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                              f"inject={call}:error={error}:when={count}", *self.words(self.command, root)],
                             env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        said = ran.stdout.decode(errors="replace")
        if ran.returncode < 0 or ran.returncode > 100 or "terminate called" in said:
            return f"ended with {ran.returncode}: {said[-800:]}"
        problem = between(look(self.base), self.wanted, look(root), ran.returncode == 0)
        return f"{problem}\n{said[-800:]}" if problem else self.run_again(root, said)

    def run_again(self, root, said):
        deadline = time.monotonic() + 3
        while self.left_over() and time.monotonic() < deadline:
            time.sleep(0.05)
        alive = [name for name in self.left_over() if name.startswith("process")]
        if alive:
            return f"still at work: {alive}"
        again = subprocess.run(self.words(self.command, root), env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=120)
        if again.returncode != 0:
            return f"the next run ended with {again.returncode}: {again.stdout.decode()[-1500:]}\nbefore: {said[-800:]}"
        rest = differences(self.wanted, look(root))
        if rest:
            return f"the tree is another one:\n{rest}\nbefore: {said[-800:]}\nthen: {again.stdout.decode()[-800:]}"
        return f"left over: {self.left_over()}" if self.left_over() else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="every step")
    parser.add_argument("--no-boot", action="store_true", help="nothing boots here anyway")
    parser.add_argument("--long", action="store_true", help="nothing is repeated here")
    parser.add_argument("--only", choices=("install", "upgrade", "rollback", "remove"), help="this scenario alone")
    parser.add_argument("--what", choices=("errors", "kills"), help="calls that fail alone, or deaths alone")
    arguments = parser.parse_args()
    every = 1 if arguments.full else EVERY
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        driver = DemoDriver(folder)
        for name in driver.scenarios:
            if arguments.only in (None, name):
                scenario = Scenario(driver, name)
                if arguments.what != "kills":
                    run_errors(checks, scenario, every)
                if arguments.what != "errors":
                    run_kills(checks, scenario, every)
    return checks.close()


def run_errors(checks, scenario, every):
    for offset, error in enumerate(ERRORS):
        steps = scenario.failing_steps[offset * every // len(ERRORS)::every]
        wrong = [f"{step}: {problem}" for step in steps if (problem := scenario.fail(step, error))]
        checks.that(not wrong, f"{scenario.name}: {error} at {len(steps)} of {len(scenario.failing_steps)} steps: the old or the "
                    "new tree, and run again, all is as undisturbed", f"{len(wrong)} of them wrong\n" + "\n".join(wrong[:12]))


def run_kills(checks, scenario, every):
    for offset, victim in enumerate(VICTIMS):
        wrong, tried = [], 0
        for number in range(offset * every // len(VICTIMS), len(scenario.steps), every):
            tried += 1
            problem = scenario.crash(scenario.steps[number], victim)
            if problem:
                wrong.append(f"step {number}, {scenario.steps[number]}: {problem}")
        checks.that(not wrong, f"{scenario.name}: {victim} killed at {tried} of {len(scenario.steps)} steps, run again, all is as "
                    "undisturbed", f"{len(wrong)} of them wrong\n" + "\n".join(wrong[:12]))


if __name__ == "__main__":
    sys.exit(main())
