# SPDX-License-Identifier: Apache-2.0
# tests/e2e/loop_disk.py - a filesystem in a file, mounted on a folder of its own.

import subprocess


def must(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout.strip()


class Mounted:
    """with Mounted(file, folder) as folder: …; `options` as for mount(8)."""

    def __init__(self, file, folder, options="rw"):
        self.file, self.folder, self.options = file, folder, options
        self.device = None

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        self.device = must("losetup", "--find", "--show", self.file)
        try:
            must("mount", "-o", self.options, self.device, self.folder)
        except subprocess.CalledProcessError:
            must("losetup", "--detach", self.device)
            raise
        return self.folder

    def __exit__(self, *_):
        must("umount", self.folder)
        must("losetup", "--detach", self.device)
