#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/driver_initramfs.py - an image whose initrd holds nouveau: it is made anew, equal each time, and goes back.

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences, picture  # noqa: E402
from slipway_host import EPOCH, KERNEL, Slipway, must, real_package, script, write_spec  # noqa: E402

INITRD = f"boot/initrd.img-{KERNEL}"
BLACKLIST = "etc/modprobe.d/slipway-nvidia.conf"


def in_root(root, *argv):
    environment = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", f"SOURCE_DATE_EPOCH={EPOCH}"]
    return must(["chroot", root, *environment, *argv])


def make_root(root):
    """The initrd is asked to hold nouveau, as a splash screen or an admin does."""
    script("make-root.sh", "--with-libraries", str(root))
    with open(root / "etc/initramfs-tools/modules", "a", encoding="utf-8") as file:
        file.write("nouveau\n")
    in_root(root, "update-initramfs", "-u", "-k", KERNEL)
    os.utime(root / "etc/initramfs-tools/modules", (int(EPOCH), int(EPOCH)))


def contents(root):
    return in_root(root, "lsinitramfs", "/" + INITRD).splitlines()


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        root, twin = work / "root", work / "twin"
        slipway = Slipway(work / "cache")
        spec = work / "host.yaml"
        write_spec(spec, f"{{repository: {real_package(slipway)}, trust: unsigned}}")
        make_root(root)
        must(["cp", "-a", root, twin])
        before = picture(root, times=False)
        checks.that(any(line.endswith("/nouveau.ko") for line in contents(root)), "the root's initrd holds nouveau")
        for target in (root, twin):
            status, out, err, seconds = slipway("apply", "--without-slipway", "--root", target, "--kernel", KERNEL, "-f", spec)
            checks.that(status == 0, f"apply provisions the root and makes its initrd ({seconds:.0f} s)", out + err)
        checks.that(BLACKLIST in contents(root), "the initrd has the blacklist", "\n".join(contents(root)))
        left, right = picture(root), picture(twin)
        checks.that(left[INITRD] != before[INITRD], "the initrd is another one than before")
        checks.that(left == right, "two applies give equal trees: initrd, ld.so.cache and state included",
                    differences(left, right))
        for path in (INITRD, "etc/ld.so.cache", "var/lib/slipway/generations/current"):
            checks.that(path in left, f"{path} was among what was compared")
        status, out, err, _ = slipway("apply", "--without-slipway", "--root", root, "--kernel", KERNEL, "-f", spec)
        checks.that(status == 0 and "Nothing to do" in out and picture(root) == left, "a second apply changes nothing",
                    out + err + differences(left, picture(root)))
        status, out, err, seconds = slipway("remove", "--all", "--root", root)
        after = picture(root, times=False)
        checks.that(status == 0 and after == before, f"remove returns the root hash for hash ({seconds:.0f} s)",
                    out + err + differences(before, after))
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
