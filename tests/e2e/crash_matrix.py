#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/crash_matrix.py - kills slipway, its workers, or both at every step of an install, an upgrade, a rollback and a
# removal, and runs it again: the same tree and generation as undisturbed, no file left over, nobody at work, no lock.
#
# The clock is the system calls that change files, of the core and of the worker that unpacks: strace stops the core at the
# n-th of them, and the victim is killed then; the unpacking worker dies at its own n-th. The same steps also fail with
# ENOSPC, EIO and EROFS: the tree is the old or the new one, and another run ends as undisturbed. Without --full every
# EVERY-th step is taken, a different one for each kind of victim or error. What counts is what strace says that it did: a
# step that was not reached, or without a process to kill, has shown nothing, and a row without one that did fails.

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from checks import Checks, differences
from demo_driver import DemoDriver, between, look
from traced import Stopped, TracedSlipway, tracing

EVERY = 17
CALLS = (
    "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat", "rmdir", "mkdir",
    "mkdirat", "fsync", "fdatasync", "syncfs", "ftruncate", "pwrite64", "fchmod", "fchmodat", "fchown", "fchownat",
    "utimensat")

FAILING = ("write", "openat2")  # calls that also fail, besides CALLS
VICTIMS = ("core", "workers", "both")
ERRORS = ("ENOSPC", "EIO", "EROFS")
NO_WORKERS = ("remove",)  # its records list what it removes
NO_UNPACKING = ("rollback", "remove")  # the layers exist already, or are removed


class Scenario:
    """One command on a copy of one root; `before` creates that root."""

    def __init__(self, driver, traced, name):
        self.driver, self.traced, self.work, self.name = driver, traced, driver.work, name
        before, self.command = driver.scenarios[name]
        self.base = self.work / f"base-{name}"
        self.environment = {**driver.environment, "SLIPWAY_CRASH_MATRIX": f"{name} in {self.work}"}
        driver.prepare(self.base, before)
        self.steps, self.failing_steps = self.list_steps(worker=False)
        self.worker_steps, self.worker_failing_steps = self.list_steps(worker=True)
        self.wanted = look(self.work / "root")

    def words(self, root):
        return self.driver.words(self.command, root)[1:]

    def copy(self):
        root = self.work / "root"
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["cp", "-a", str(self.base), str(root)], check=True)
        return root

    def traced_run(self, root, options, worker):
        words, environment = self.words(root), self.environment
        if worker:
            words, environment = self.traced.worker(options, words, environment)
        else:
            words = self.traced.core(options, words)
        return subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)

    def list_steps(self, worker):
        """Returns each step of an undisturbed run, and those that may fail."""
        self.traced_run(self.copy(), tracing(CALLS + FAILING), worker).check_returncode()
        return self.traced.steps(CALLS), self.traced.steps(CALLS + FAILING)

    def left_over(self):
        names = [str(path) for path in (self.work / "tmp").iterdir()]
        mark = f"SLIPWAY_CRASH_MATRIX={self.name} in {self.work}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    names.append(f"process {folder.name} {(folder / 'cmdline').read_bytes()[:200]!r}")
            except OSError:
                pass
        return names

    def crash(self, step, victim):
        """Returns the problem after a kill at this step (empty: none), and the number of killed processes."""
        root = self.copy()
        run = Stopped(self.traced, self.words(root), self.environment, *step)
        killed = run.kill(victim) if run.pid else 0
        return self.run_again(root, run.end()), killed

    def crash_worker(self, step):
        """The same for a kill of the unpacking worker at one of its steps."""
        root = self.copy()
        call, count = step
        ran = self.traced_run(root, tracing([call], f"inject={call}:signal=SIGKILL:when={count}"), worker=True)
        return self.after_failure(root, ran) or self.run_again(root, output_of(ran)), self.traced.injected()

    def fail(self, step, error, worker):
        """Returns the problem after this step failed with this error (empty: none), and whether it failed."""
        root = self.copy()
        call, count = step
        ran = self.traced_run(root, tracing([call], f"inject={call}:error={error}:when={count}"), worker)
        injected = self.traced.injected()
        return self.after_failure(root, ran) or self.run_again(root, output_of(ran)), injected

    def after_failure(self, root, ran):
        """Returns the problem right after a run in which something failed."""
        said = output_of(ran)
        if ran.returncode < 0 or ran.returncode > 100 or "terminate called" in said:
            return f"ended with {ran.returncode}: {said[-800:]}"
        problem = between(look(self.base), self.wanted, look(root), ran.returncode == 0)
        return f"{problem}\n{said[-800:]}" if problem else ""

    def run_again(self, root, said):
        deadline = time.monotonic() + 3
        while self.left_over() and time.monotonic() < deadline:
            time.sleep(0.05)
        alive = [name for name in self.left_over() if name.startswith("process")]
        if alive:
            return f"still at work: {alive}"
        again = subprocess.run([str(self.traced.program), *self.words(root)], env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=120)
        if again.returncode != 0:
            return f"the next run ended with {again.returncode}: {again.stdout.decode()[-1500:]}\nbefore: {said[-800:]}"
        rest = differences(self.wanted, look(root))
        if rest:
            return f"the tree is another one:\n{rest}\nbefore: {said[-800:]}\nthen: {again.stdout.decode()[-800:]}"
        return f"left over: {self.left_over()}" if self.left_over() else ""


def output_of(ran):
    return ran.stdout.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true", help="every step")
    parser.add_argument("--no-boot", action="store_true", help="nothing boots here anyway")
    parser.add_argument("--long", action="store_true", help="nothing is repeated here")
    parser.add_argument("--only", choices=("install", "upgrade", "rollback", "remove"), help="this scenario alone")
    parser.add_argument("--what", choices=("errors", "kills"), help="calls that fail alone, or deaths alone")
    parser.add_argument("--where", choices=("core", "worker"), help="at steps of one of them alone")
    arguments = parser.parse_args()
    every = 1 if arguments.full else EVERY
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        driver = DemoDriver(folder)
        traced = TracedSlipway(driver.work)
        for name in driver.scenarios:
            if arguments.only not in (None, name):
                continue
            scenario = Scenario(driver, traced, name)
            for where in ("core", "worker"):
                if arguments.where not in (None, where):
                    continue
                if where == "worker" and not unpacks(checks, scenario):
                    continue
                if arguments.what != "kills":
                    run_errors(checks, scenario, where, every)
                if arguments.what != "errors":
                    (run_kills if where == "core" else run_worker_kills)(checks, scenario, every)
    return checks.close()


def unpacks(checks, scenario):
    """Returns whether there is a worker to disturb; checks that the wrapper saw it if there must be one."""
    if scenario.name in NO_UNPACKING:
        return False
    return checks.that(scenario.worker_steps, f"{scenario.name}: strace sees the worker that unpacks")


def judge(checks, results, sentence):
    """One row of the matrix: checks that all disturbed steps ended well, and that there was one. @param results
    (step, problem, how many)"""
    wrong = [f"{step}: {problem}" for step, problem, _ in results if problem]
    real = sum(1 for _, _, happened in results if happened)
    checks.that(real and not wrong, f"{sentence.format(real=real, tried=len(results))}",
                f"{real} happened, {len(wrong)} wrong\n" + "\n".join(wrong[:12]))


def run_errors(checks, scenario, where, every):
    all_steps = scenario.failing_steps if where == "core" else scenario.worker_failing_steps
    for offset, error in enumerate(ERRORS):
        results = [(step, *scenario.fail(step, error, where == "worker"))
                   for step in all_steps[offset * every // len(ERRORS)::every]]
        judge(checks, results, f"{scenario.name}: {error} in the {where} at {{real}} of {{tried}} steps tried of "
              f"{len(all_steps)}: the old or the new tree, and run again, all is as undisturbed")


def run_kills(checks, scenario, every):
    for offset, victim in enumerate(VICTIMS if scenario.name not in NO_WORKERS else ("core",)):
        results = [(step, *scenario.crash(step, victim))
                   for step in scenario.steps[offset * every // len(VICTIMS)::every]]
        judge(checks, results, f"{scenario.name}: {victim} killed at {{real}} of {{tried}} steps tried of "
              f"{len(scenario.steps)}, run again, all is as undisturbed")


def run_worker_kills(checks, scenario, every):
    results = [(step, *scenario.crash_worker(step)) for step in scenario.worker_steps[::every]]
    judge(checks, results, f"{scenario.name}: the unpacking worker killed at {{real}} of {{tried}} of its steps tried of "
          f"{len(scenario.worker_steps)}, run again, all is as undisturbed")


if __name__ == "__main__":
    sys.exit(main())
