# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest/image.py - disk images from folders, and the boot files that a boot loader would read from them.

import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def make_image(root, image, spare_mib=1024):
    """Writes an ext4 image with the tree of `root` and `spare_mib` MiB of free space; needs no mount."""
    used = subprocess.run(["du", "-sxm", root], check=True, capture_output=True, text=True).stdout.split()[0]
    pathlib.Path(image).unlink(missing_ok=True)
    # The inode tables and the journal need additional space: one eighth covers them.
    size_mib = int(used) * 9 // 8 + spare_mib
    command = ["mke2fs", "-q", "-t", "ext4", "-d", root, image, f"{size_mib}M"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _debugfs(image, request):
    done = subprocess.run(["debugfs", "-R", request, image], check=True, capture_output=True, text=True)
    return done.stdout


def kernel_releases(image):
    """Returns the releases with a kernel in the image's /boot, sorted by their numbers."""
    names = re.findall(r"/vmlinuz-([^/\s]+)/", _debugfs(image, "ls -p /boot"))
    return sorted(names, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])


def replay_journal(image):
    """Replays the journal, like a mount by the kernel: debugfs does not, so it would read /boot as it was before a
    power cut, or
    partly changed."""
    done = subprocess.run(["e2fsck", "-p", "-E", "journal_only", image], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(f"e2fsck {image} ended with {done.returncode}: {done.stdout}{done.stderr}")


def boot_files(image, folder, release=None):
    """Copies kernel and initrd out of the image, as a boot loader does at every boot; returns both paths."""
    replay_journal(image)
    releases = kernel_releases(image)
    release = release or (releases[-1] if releases else None)
    if release not in releases:
        have = " ".join(releases) or "none"
        raise FileNotFoundError(f"{image}: no kernel {release or ''} in /boot, which has: {have}")
    paths = []
    for name in (f"vmlinuz-{release}", f"initrd.img-{release}"):
        path = os.path.join(folder, name)
        _debugfs(image, f"dump /boot/{name} {path}")
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            raise FileNotFoundError(f"{image}: cannot read /boot/{name}")
        paths.append(path)
    add_agent(paths[1])
    return paths


def _cpio_entry(name, mode, data=b"", inode=0):
    """Returns one member of a newc archive: 13 fields of eight hex digits; name and data padded to four bytes."""
    fields = [inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def add_agent(initrd):
    """Appends an archive with the agent to the initrd; the kernel unpacks archives one after the other."""
    directory, script = 0o040755, 0o100755
    # The initrd's init reads the first file early: it adds the hook to the end of the list of last scripts.
    files = {
        "conf/conf.d/slipway-e2e": b"echo /scripts/init-bottom/slipway-e2e >>/scripts/init-bottom/ORDER\n",
        "scripts/init-bottom/slipway-e2e": (HERE / "initrd-hook.sh").read_bytes(),
        "slipway-e2e/agent.sh": (HERE / "agent.sh").read_bytes(),
        "slipway-e2e/agent.service": (HERE / "agent.service").read_bytes(),
    }
    folders = sorted({str(parent) for name in files for parent in pathlib.PurePath(name).parents} - {"."})
    archive = b"".join(_cpio_entry(name, directory) for name in folders)
    for inode, (name, data) in enumerate(files.items(), start=1):
        archive += _cpio_entry(name, script, data, inode)
    archive += _cpio_entry("TRAILER!!!", 0)
    with open(initrd, "ab") as out:
        out.write(b"\0" * (-out.tell() % 4) + archive)
