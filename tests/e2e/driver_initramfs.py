#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/driver_initramfs.py - images whose initrd holds nouveau, by update-initramfs and by dracut:
# it is made anew, equal each time, without what would take the GPU, and goes back.

import os
import pathlib
import re
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
    """Makes the initrd include nouveau, as a splash screen or an administrator would."""
    script("make-root.sh", "--with-libraries", str(root))
    with open(root / "etc/initramfs-tools/modules", "a", encoding="utf-8") as file:
        file.write("nouveau\n")
    in_root(root, "update-initramfs", "-u", "-k", KERNEL)
    os.utime(root / "etc/initramfs-tools/modules", (int(EPOCH), int(EPOCH)))


def make_dracut_root(root):
    """The splash screen adds graphics drivers to the initrd, which is for any machine."""
    script("make-dracut-root.sh", str(root))


def listed(root, tool, image=INITRD):
    return [line.split()[-1] for line in in_root(root, tool, "/" + image).splitlines() if line.strip()]


def has_kernel_driver(files):
    return any(re.search(r"/(nouveau|nova_core|nova|nova_drm)\.ko", line) for line in files)


def goes_in_and_out(checks, slipway, spec, root, twin):
    """Checks an initrd with nouveau: the same apply in two copies, a second one, and the removal."""
    before = picture(root, times=False)
    must(["cp", "-a", root, twin])
    for target in (root, twin):
        status, out, err, seconds = slipway("apply", "--without-slipway", "--root", target, "--kernel", KERNEL, "-f", spec)
        checks.that(status == 0, f"apply provisions the root and makes its initrd ({seconds:.0f} s)", out + err)
    left, right = picture(root), picture(twin)
    checks.that(left[INITRD] != before[INITRD], "the initrd is another one than before")
    checks.that(left == right, "two applies give equal trees: initrd, ld.so.cache and state included",
                differences(left, right))
    for path in (INITRD, "etc/ld.so.cache", "var/lib/slipway/generations/current"):
        checks.that(path in left, f"{path} was among what was compared")
    status, out, err, _ = slipway("apply", "--without-slipway", "--root", root, "--kernel", KERNEL, "-f", spec)
    checks.that(status == 0 and "Nothing to do" in out and picture(root) == left, "a second apply changes nothing",
                out + err + differences(left, picture(root)))
    return before


def comes_back(checks, slipway, root, before, but=()):
    status, out, err, seconds = slipway("remove", "--all", "--root", root)
    after = picture(root, times=False)
    for path in but:
        del before[path], after[path]
    checks.that(status == 0 and after == before, f"remove returns the root hash for hash ({seconds:.0f} s)",
                out + err + differences(before, after))


def by_update_initramfs(checks, slipway, spec, work):
    root = work / "root"
    make_root(root)
    checks.that(has_kernel_driver(listed(root, "lsinitramfs")), "the root's initrd holds nouveau")
    before = goes_in_and_out(checks, slipway, spec, root, work / "twin")
    files = listed(root, "lsinitramfs")
    checks.that(BLACKLIST in files, "the initrd has the blacklist", "\n".join(files))
    comes_back(checks, slipway, root, before)


def by_dracut(checks, slipway, spec, work):
    """Before the fix, dracut's initrd for any machine had nouveau and lacked modprobe.d."""
    root = work / "dracut-root"
    make_dracut_root(root)
    files = listed(root, "lsinitrd")
    checks.that(has_kernel_driver(files) and BLACKLIST not in files, "dracut's initrd holds nouveau and no blacklist")
    before = goes_in_and_out(checks, slipway, spec, root, work / "dracut-twin")
    for image, whose in ((INITRD, "the initrd"), ("boot/later.img", "one that the distribution makes later, by itself,")):
        if not (root / image).exists():
            in_root(root, "dracut", "--force", "--no-hostonly", "/" + image, KERNEL)
        files = listed(root, "lsinitrd", image)
        checks.that(BLACKLIST in files, f"{whose} has the blacklist", "\n".join(files))
        checks.that(not has_kernel_driver(files), f"{whose} has none of the kernel's own drivers", "\n".join(files))
        checks.that(not any(re.search(r"/nvidia[-_a-z]*\.ko|/gsp_", line) for line in files),
                    f"{whose} has no module and no firmware of NVIDIA's", "\n".join(files))
        checks.that(any("/simpledrm.ko" in line or "/bochs.ko" in line for line in files), f"{whose} has other drivers",
                    "\n".join(files))
    (root / "boot/later.img").unlink()
    # dracut's output depends on /dev and /proc, which differed when the package created the first initrd.
    comes_back(checks, slipway, root, before, but=[INITRD])
    files = listed(root, "lsinitrd")
    checks.that(has_kernel_driver(files) and BLACKLIST not in files, "the initrd is made anew as it had been")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as name:
        work = pathlib.Path(name)
        slipway = Slipway(work / "cache")
        spec = work / "host.yaml"
        write_spec(spec, f"{{repository: {real_package(slipway)}, trust: unsigned}}")
        by_update_initramfs(checks, slipway, spec, work)
        by_dracut(checks, slipway, spec, work)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
