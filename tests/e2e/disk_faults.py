#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/disk_faults.py - an install, an upgrade, a rollback and a removal on an ext4 filesystem that is full, has no
# inodes left, or becomes read-only meanwhile: each component is the old or the new one, a message says what is wrong,
# and with the fault gone the same command comes to the same tree as undisturbed. A disk that no command ran into has shown
# nothing: of each kind of fault, one at least must have made a command fail.

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from checks import Checks, differences
from demo_driver import DemoDriver, between, look
from loop_disk import Mounted, must

MIB = 1 << 20
FREE_KIB = (0, 4, 16, 48, 128, 256)  # free space on the full disk
FREE_INODES = (0, 1, 4, 12, 30)
MOMENTS = (0.1, 0.25, 0.4, 0.55, 0.7)  # when the disk becomes read-only, as a fraction of the command's undisturbed
                                       # time
REASONS = ("No space left on device", "Read-only file system", "Input/output error",
           "disk I/O error")


def fill_space(folder, left_kib):
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(64 << 10))
        except OSError:
            pass
        filler.flush()
        os.fsync(filler.fileno())
        filler.truncate(max(0, filler.tell() - (left_kib << 10)))


def fill_inodes(folder, left):
    (folder / "filler").mkdir()
    made = []
    try:
        while True:
            path = folder / "filler" / str(len(made))
            path.touch()
            made.append(path)
    except OSError:
        pass
    for path in made[:left]:
        path.unlink()


class Disk:
    """One scenario's disk before its command; every fault gets a copy."""

    def __init__(self, driver, name):
        self.driver, self.name, self.work = driver, name, driver.work
        before, self.command = driver.scenarios[name]
        self.base, self.file = self.work / f"{name}.img", self.work / "disk.img"
        self.failures = 0  # commands that ran into a fault and reported it
        with open(self.base, "wb") as file:
            file.truncate(48 * MIB)
        # Without blocks reserved for root, which could use them; few inodes, so that they run out soon.
        must("mkfs.ext4", "-q", "-F", "-m", "0", "-N", "2048", self.base)
        with Mounted(self.base, self.work / "mounted") as folder:
            driver.prepare(folder / "root", before)
            self.old = look(folder / "root")
        with self.copy() as folder:
            started = time.monotonic()
            status, said = driver.run(self.command, folder / "root")
            self.seconds = time.monotonic() - started
            if status != 0:
                raise RuntimeError(f"{self.command} ended with {status}: {said[-2000:]}")
            self.new = look(folder / "root")

    def copy(self):
        must("cp", "--sparse=always", self.base, self.file)
        return self.mounted()

    def mounted(self, options="rw"):
        return Mounted(self.file, self.work / "mounted", options)

    def judge(self, root, status, said):
        """Returns the problem right after the fault; empty: none."""
        self.failures += status == 1
        if status not in (0, 1):
            return f"ended with {status}: {said[-800:]}"
        if status == 1 and not any(reason in said for reason in REASONS):
            return f"the message does not say why: {said[-800:]}"
        if status == 1 and "not restored" in said:
            return ""  # if undoing needs space too, the command says so, and the next run does it
        problem = between(self.old, self.new, look(root), status == 0)
        return f"{problem}\n{said[-800:]}" if problem else ""

    def run_again(self, root):
        status, said = self.driver.run(self.command, root)
        if status != 0:
            return f"the next run ended with {status}: {said[-1500:]}"
        rest = differences(self.new, look(root))
        return f"the tree is another one:\n{rest}\n{said[-800:]}" if rest else ""

    def filled(self, fill, left):
        with self.copy() as folder:
            fill(folder, left)
            status, said = self.driver.run(self.command, folder / "root")
            problem = self.judge(folder / "root", status, said)
            must("rm", "-rf", folder / "filler")
            return problem or self.run_again(folder / "root")

    def read_only_from_the_start(self):
        must("cp", "--sparse=always", self.base, self.file)
        with self.mounted("ro") as folder:
            status, said = self.driver.run(self.command, folder / "root")
            if status != 1 or differences(self.old, look(folder / "root")):
                return f"ended with {status}: {said[-800:]}"
            return self.judge(folder / "root", status, said)

    def read_only_at(self, moment):
        """ext4 makes itself read-only when it finds itself damaged; the mount option `abort` does the same."""
        with self.copy() as folder:
            run = subprocess.Popen(self.driver.words(self.command, folder / "root"), env=self.driver.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(moment * self.seconds)
            subprocess.run(["mount", "-o", "remount,abort", folder], check=False, capture_output=True)
            said = run.communicate(timeout=180)[0].decode(errors="replace")
            status = run.returncode
        subprocess.run(["e2fsck", "-fy", self.file], check=False, capture_output=True)
        if status not in (0, 1) or status == 1 and not any(reason in said for reason in REASONS):
            return f"ended with {status}: {said[-800:]}"
        self.failures += status == 1
        with self.mounted() as folder:
            return self.run_again(folder / "root")


def main():
    parser = argparse.ArgumentParser()
    for option in ("--full", "--long", "--no-boot"):
        parser.add_argument(option, action="store_true", help="the same here")
    parser.add_argument("--only", choices=("install", "upgrade", "rollback", "remove"), help="this scenario alone")
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="disk-faults-") as folder:
        driver = DemoDriver(pathlib.Path(folder))
        for name in driver.scenarios:
            if arguments.only not in (None, name):
                continue
            disk = Disk(driver, name)
            for what, faults in (
                    ("a full disk", {f"{left} KiB": lambda left=left: disk.filled(fill_space, left) for left in FREE_KIB}),
                    ("no inodes", {f"{left} inodes": lambda left=left: disk.filled(fill_inodes, left) for left in FREE_INODES}),
                    ("a read-only disk", {"at all": disk.read_only_from_the_start}),
                    ("a disk that becomes read-only",
                     {f"at {moment}": lambda moment=moment: disk.read_only_at(moment) for moment in MOMENTS})):
                disk.failures = 0
                wrong = [f"{at}: {problem}" for at, fault in faults.items() if (problem := fault())]
                checks.that(disk.failures and not wrong, f"{name}: {what}, {len(faults)} times, {disk.failures} commands failed; "
                            "the old or the new tree, and run again, all is as undisturbed", "\n".join(wrong))
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
