# SPDX-License-Identifier: Apache-2.0
# tests/e2e/checks.py - counts passed and failed checks, and records snapshots of trees.
"""    checks = Checks()
    checks.that(value == 3, "three is three", "it is " + str(value))
    sys.exit(checks.close())
"""

import hashlib
import os
import stat
import sys
import time


class Checks:
    """Prints a line for each sentence; close() prints the closing line and gives the exit status."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self._start = time.monotonic()

    def that(self, holds, sentence, seen=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        seconds = time.monotonic() - self._start
        print(f"{'ok' if holds else 'NOT OK'} - {sentence} [{seconds:.0f} s]", flush=True)
        if not holds and seen:
            print("    " + str(seen)[-6000:].replace("\n", "\n    "), flush=True)
        return holds

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def wait_for(holds, limit=90):
    """Waits until it holds, up to `limit` seconds, more than a busy machine needs; returns whether it does."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.2)
    return bool(holds())


def _content(path, info):
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    if stat.S_ISCHR(info.st_mode) or stat.S_ISBLK(info.st_mode):
        return f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"
    return ""


def _attributes(path):
    return {name: os.getxattr(path, name, follow_symlinks=False).hex()
            for name in os.listxattr(path, follow_symlinks=False)}


def picture(root, times=True, folder_times=True):
    """Returns (mode, owner, content, extended attributes[, mtime]) by path for everything below a folder, without
    mounts."""
    seen = {}
    device = os.stat(root).st_dev
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if os.lstat(os.path.join(folder, name)).st_dev == device]
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            line = (oct(info.st_mode), info.st_uid, info.st_gid, _content(path, info), str(_attributes(path)))
            timed = times and (folder_times or not stat.S_ISDIR(info.st_mode))
            seen[os.path.relpath(path, root)] = line + ((info.st_mtime_ns,) if timed else ())
    return seen


def differences(before, after, most=20):
    """Returns the differences of two pictures, a line each."""
    lines = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            lines.append(f"{path}: {before.get(path)} -> {after.get(path)}")
    return "\n".join(lines[:most] + ([f"… and {len(lines) - most} more"] if len(lines) > most else []))
