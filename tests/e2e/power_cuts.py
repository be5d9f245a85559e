#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/power_cuts.py - cuts the power at random points of an install, an upgrade, a rollback and a removal; then the
# same command is run again: the same tree and generation as undisturbed.
#
# The root is on an ext4 filesystem whose disk is qemu's: every write and flush of an undisturbed run is recorded. A cut
# is a disk made anew from the record up to a random point, in which each write since the last flush is there, or not, or
# in part. That is worse than what pulling a plug does, and takes a second instead of a boot.

import argparse
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from checks import Checks, differences
from demo_driver import DemoDriver, look
from loop_disk import Mounted, must

MIB = 1 << 20
DISK_MIB = 128
MAGIC = 0x6A736677736872  # in the log's first sector
FLUSH, FUA, DISCARD = 1, 2, 4


class Recorder:
    """qemu's disk: a file that can be used like any other, and the log of its writes."""

    def __init__(self, work):
        self.file, self.log = work / "disk", work / "log"
        for path, size in ((work / "content", DISK_MIB * MIB), (self.log, 4096 * MIB), (self.file, 0)):
            path.write_bytes(b"")
            with open(path, "r+b") as file:
                file.truncate(size)
        self.qemu = subprocess.Popen(
            ["qemu-storage-daemon", "--blockdev", f"driver=file,node-name=content,filename={work / 'content'}",
             "--blockdev", f"driver=file,node-name=log,filename={self.log}",
             "--blockdev", "driver=blklogwrites,node-name=recorded,file=content,log=log",
             "--export", f"type=fuse,id=disk,node-name=recorded,mountpoint={self.file},writable=on"])
        deadline = time.monotonic() + 20
        while self.file.stat().st_size == 0:
            if self.qemu.poll() is not None or time.monotonic() > deadline:
                self.qemu.kill()
                raise RuntimeError("qemu-storage-daemon gives no disk")
            time.sleep(0.05)

    def close(self):
        self.qemu.terminate()
        self.qemu.wait()


def entries_of(log):
    """Returns (first byte on the disk, length, flags, offset of the data in the log) of every operation, in order."""
    entries = []
    with open(log, "rb") as file:
        magic, _, _, sector = struct.unpack("<QQQI", file.read(28))
        assert magic == MAGIC
        position = sector
        while True:
            file.seek(position)
            start, count, flags, _ = struct.unpack("<QQQQ", file.read(32))
            if count == 0 and flags == 0:
                return entries
            entries.append((start * sector, count * sector, flags, position + sector))
            position += sector + (0 if flags & DISCARD else count * sector)


class Recording:
    """One undisturbed run, and the disks that a cut in the middle of it would leave."""

    def __init__(self, driver, name, work):
        work.mkdir()
        before, self.command = driver.scenarios[name]
        recorder = Recorder(work)
        try:
            must("mkfs.ext4", "-q", "-F", recorder.file)
            with Mounted(recorder.file, work / "mounted") as folder:
                driver.prepare(folder / "root", before)
                must("sync", "--file-system", folder)
                self.begin = len(entries_of(recorder.log))
                status, said = driver.run(self.command, folder / "root")
                if status != 0:
                    raise RuntimeError(f"{self.command} ended with {status}: {said[-2000:]}")
                self.wanted = look(folder / "root")
        finally:
            recorder.close()
        self.log, self.entries = recorder.log, entries_of(recorder.log)

    def cut(self, at, chance, disk):
        """Creates the disk of a cut right after the entry `at`."""
        flushed = max((n for n in range(at + 1) if self.entries[n][2] & FLUSH), default=-1)
        with open(self.log, "rb") as log, open(disk, "wb") as file:
            file.truncate(DISK_MIB * MIB)
            for number, (start, length, flags, data) in enumerate(self.entries[:at + 1]):
                lost = number > flushed and not flags & FUA and chance.random() < 0.5
                if length == 0 or lost and chance.random() < 0.8:
                    continue
                if lost:  # partly: whole sectors, as a disk writes them
                    length = 512 * chance.randrange(length // 512)
                log.seek(data)
                file.seek(start)
                file.write(bytes(length) if flags & DISCARD else log.read(length))


def repaired(disk):
    """Returns errors that e2fsck cannot repair; empty: none. -p is what a boot uses."""
    checked = subprocess.run(["e2fsck", "-p", disk], capture_output=True, text=True)
    if checked.returncode == 8 and "superblock" in checked.stdout + checked.stderr:
        # The cut went through the two sectors of the filesystem's superblock, of which there are copies.
        checked = subprocess.run(["e2fsck", "-fy", disk], capture_output=True, text=True)
    return "" if checked.returncode in (0, 1) else f"e2fsck ended with {checked.returncode}: {checked.stdout}"


def problem_after(driver, recording, disk, work):
    """Returns the problem when the command is run again on that disk; empty: none."""
    if broken := repaired(disk):
        return broken
    with Mounted(disk, work / "after") as folder:
        status, said = driver.run(recording.command, folder / "root")
        if status != 0:
            return f"the next run ended with {status}: {said[-1500:]}"
        rest = differences(recording.wanted, look(folder / "root"))
        return f"the tree is another one:\n{rest}\n{said[-800:]}" if rest else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true", help="100 cuts of each command instead of 5")
    parser.add_argument("--full", action="store_true", help="the same here")
    parser.add_argument("--no-boot", action="store_true", help="nothing boots here anyway")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="of an earlier run")
    arguments = parser.parse_args()
    if shutil.which("qemu-storage-daemon") is None or not pathlib.Path("/dev/fuse").exists():
        print("left out: needs qemu-storage-daemon and /dev/fuse")
        return 0
    checks = Checks()
    print(f"--seed {arguments.seed} makes the same cuts again", flush=True)
    with tempfile.TemporaryDirectory(prefix="power-cuts-") as folder:
        work = pathlib.Path(folder)
        driver = DemoDriver(work)
        for name in driver.scenarios:
            chance = random.Random(f"{arguments.seed} {name}")
            recording = Recording(driver, name, work / name)
            count = 100 if arguments.long else 5
            wrong = []
            for _ in range(count):
                at = chance.randrange(recording.begin, len(recording.entries))
                recording.cut(at, chance, work / "cut")
                if problem := problem_after(driver, recording, work / "cut", work):
                    wrong.append(f"entry {at} of {recording.begin} to {len(recording.entries)}: {problem}")
            flushes = sum(1 for entry in recording.entries[recording.begin:] if entry[2] & FLUSH)
            checks.that(not wrong, f"{name}: {count} power cuts among {len(recording.entries) - recording.begin} writes and "
                        f"{flushes} flushes; run again, all is as undisturbed", "\n".join(wrong[:6]))
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
