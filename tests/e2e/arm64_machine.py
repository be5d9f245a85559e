# SPDX-License-Identifier: Apache-2.0
# tests/e2e/arm64_machine.py - an arm64 machine in qemu with Debian's kernel, which runs test programs and ends.

import pathlib
import re
import shutil
import subprocess

from slipway_host import HERE, must

LIBDIR = "usr/lib/aarch64-linux-gnu"
TOOLS = ("usr/bin/busybox", "usr/bin/cat", "usr/bin/dash", "usr/bin/ls", "usr/bin/sh")
# Leaves the initramfs, from which pivot_root(2) is impossible: sandboxes need it.
INIT = """#!/usr/bin/busybox sh
export PATH=/usr/sbin:/usr/bin
busybox mkdir /proc /new
busybox mount -t proc proc /proc
busybox --install -s /usr/bin 2>/dev/null
mount -t tmpfs -o size=80% tmpfs /new
cp -a /usr /etc /bin /sbin /lib /go {top} /new/
mkdir -p /new/proc /new/sys /new/dev /new/run /new/tmp
exec switch_root /new /go
"""
GO = """#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs tmpfs /tmp
ln -sf /proc/self/fd /dev/fd
mkdir /sys/fs/cgroup/tests
echo 1 >/sys/fs/cgroup/tests/cgroup.procs
uname -srm
{commands}
poweroff -f
"""


def libraries_of(folder, programs):
    """Returns the names of all libraries that these arm64 programs load."""
    dynamic = [path for path in programs if "(NEEDED)" in must(["readelf", "-d", path])]  # ldd fails for a static one
    said = must([HERE / "arm64-run.sh", folder, "ldd", *dynamic])
    return {pathlib.Path(path).name for path in re.findall(r"(?:=> |^\s+)(/\S+)", said, re.MULTILINE)}


def make_tree(tree, folder, files, commands):
    """Creates the machine's files: a few tools, and `files` under the same names as here, because the tests use
    those."""
    for name in ("usr/bin", "usr/sbin", LIBDIR, "etc"):
        (tree / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib"):
        (tree / name).symlink_to("usr/" + name)
    for path in TOOLS:
        shutil.copy2(folder / "sysroot" / path, tree / path, follow_symlinks=False)
    dynamic = [folder / "sysroot" / path for path in TOOLS if "busybox" not in path]
    for name in libraries_of(folder, [*files, *dynamic]):
        shutil.copy(folder / "sysroot" / LIBDIR / name, tree / LIBDIR / name)
    (tree / "usr/lib/ld-linux-aarch64.so.1").symlink_to("aarch64-linux-gnu/ld-linux-aarch64.so.1")
    for path in files:
        target = tree / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        must(["aarch64-linux-gnu-strip", "-o", target, path])
    (tree / "etc/passwd").write_text("root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    top = {path.parts[1] for path in files} - {"usr"}
    for name, text in (("init", INIT.format(top=" ".join("/" + part for part in top))),
                       ("go", GO.format(commands="\n".join(commands)))):
        (tree / name).write_text(text)
        (tree / name).chmod(0o755)


def run_in_machine(work, folder, debs, files, commands, seconds=900):
    """Boots, runs the shell lines, powers off; returns the console's output."""
    tree = work / "initrd"
    make_tree(tree, folder, files, commands)
    must([HERE / "arm64-run.sh", folder, "sh", "-c", 'cd "$1" && find . | "$2" cpio -o -H newc | gzip -1 > "$1.gz"', "sh", tree,
          folder / "sysroot/usr/bin/busybox"])
    (image,) = debs.glob("linux-image-*.deb")
    kernel = work / "kernel"
    kernel.mkdir()
    must(["sh", "-c", 'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards "./boot/vmlinuz-*"', "sh", image, kernel])
    (vmlinuz,) = (kernel / "boot").iterdir()
    done = subprocess.run(["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72", "-smp", "2", "-m", "2048", "-nographic",
                           "-no-reboot", "-nic", "none", "-kernel", str(vmlinuz), "-initrd", f"{tree}.gz", "-append",
                           "console=ttyAMA0 panic=-1 quiet"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds, check=False)
    return done.stdout
