#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kernel_update.py - a kernel that apt installs into a Debian root with the driver, and removes again: the hooks
# that dpkg runs give it its modules, tell of a kernel that has none, and take the modules away.
"""The real linux-image packages of Debian bookworm, in a chroot, offline: apt installs them from files. The driver is the
demonstration package for the two kernels. Needs root."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences, picture  # noqa: E402
from slipway_host import BUILD, EPOCH, KERNEL, TREE, install_into, must, run, script, write_spec  # noqa: E402

# What apt and dpkg themselves write with the time of the day, or in another order.
VOLATILE = re.compile(r"^(var/log/|var/cache/|var/lib/apt/|var/lib/dpkg/.*-old$|tmp/|run/|var/lib/systemd/|boot/initrd)")


MOUNTS = contextlib.ExitStack()


def in_root(root, *argv, check=True):
    environment = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", f"SOURCE_DATE_EPOCH={EPOCH}", "LC_ALL=C",
                   "DEBIAN_FRONTEND=noninteractive"]
    done = run(["chroot", root, *environment, *argv])
    if check and done.returncode != 0:
        raise RuntimeError(f"{argv} exited with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def fetch_kernel(work, release):
    """Returns the .deb file of a kernel, from this machine's apt."""
    folder = work / "debs"
    folder.mkdir(exist_ok=True)
    lib = TREE / "tests/e2e/lib.sh"
    must(["bash", "-c", f'source "{lib}"; cd "{folder}"; update_apt >&2; private_apt apt-get download "linux-image-{release}"'])
    (deb,) = folder.glob(f"linux-image-{release}_*.deb")
    return deb


def newer_kernels():
    lib = TREE / "tests/e2e/lib.sh"
    names = must(["bash", "-c", f'source "{lib}"; update_apt >&2; private_apt apt-cache pkgnames linux-image-6.1.0'])
    found = re.findall(r"^linux-image-(6\.1\.0-(\d+)-amd64)$", names, re.MULTILINE)
    mine = int(KERNEL.split("-")[1])
    return [release for release, number in sorted(found, key=lambda each: int(each[1])) if int(number) > mine]


def make_package(work, kernels):
    layout = work / "package"
    for kernel in kernels:
        files = work / "kernels" / kernel
        files.mkdir(parents=True)
        must(["dpkg-deb", "--extract", fetch_kernel(work, kernel), files])
        subprocess.run([TREE / "examples/demo/make-package", "--slipway", BUILD / "bin/slipway", "--kernel", kernel,
                        "--checksums-of", files, layout], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(files)
    return layout


def make_machine(work, name, layout):
    """A root with one kernel, slipway, and the driver applied; the package is inside, as an image's source may be."""
    root = work / name
    script("make-root.sh", "--with-libraries", str(root))
    install_into(root)
    shutil.copytree(layout, root / "opt/package")
    spec = root / "etc/slipway/host.yaml"
    spec.parent.mkdir(parents=True, exist_ok=True)
    write_spec(spec, "{repository: /opt/package, trust: unsigned}", hardware="assume")
    for path in [*(root / "opt").rglob("*"), spec, spec.parent]:
        os.utime(path, (int(EPOCH), int(EPOCH)))
    # This machine will not lose power: packages need not wait for the disk, file by file.
    (root / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n", encoding="utf-8")
    MOUNTS.callback(must, ["umount", root / "proc"])
    must(["mount", "-t", "proc", "proc", root / "proc"])
    done = in_root(root, "slipway", "apply", "--image", "--yes", check=False)
    return root, done


def install(root, deb):
    shutil.copy(deb, root / "tmp")
    done = in_root(root, "apt-get", "install", "-y", "--no-install-recommends", f"/tmp/{deb.name}", check=False)
    (root / "tmp" / deb.name).unlink()
    return done


def modules(root, release):
    folder = root / "usr/lib/modules" / release / "updates/slipway"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def steady(root):
    return {path: line for path, line in picture(root, times=False).items() if not VOLATILE.match(path)}


def check_installed(checks, work, layout, deb, release):
    trees = []
    for name in ("root", "twin"):
        root, done = make_machine(work, name, layout)
        checks.that(done.returncode == 0, f"{name}: slipway applies the driver in the chroot", done.stdout + done.stderr)
        checks.that((root / "etc/kernel/postinst.d/00-slipway").exists(), f"{name}: the hook is there")
        done = install(root, deb)
        said = done.stdout + done.stderr
        checks.that(done.returncode == 0, f"{name}: apt installs linux-image-{release}", said)
        checks.that(f"slipway: driver is ready for kernel {release}" in said, f"{name}: its output names the driver", said)
        checks.that("nvidia.ko" in modules(root, release), f"{name}: the new kernel has its modules", said)
        checks.that("nvidia.ko" in modules(root, KERNEL), f"{name}: the former kernel keeps its modules")
        initrd, hook = said.find("update-initramfs: Generating"), said.find("slipway: driver is ready")
        checks.that(0 <= hook < initrd, f"{name}: before its initrd was made", said)
        trees.append(steady(root))
    checks.that(trees[0] == trees[1], "two installations give equal trees", differences(*trees))
    return root


def check_dep(checks, root, release):
    dep = (root / "usr/lib/modules" / release / "modules.dep").read_text()
    checks.that("updates/slipway/nvidia.ko:" in dep, "modprobe's list of the new kernel has the modules")
    done = in_root(root, "slipway", "verify", "--image", check=False)
    checks.that(done.returncode == 0, "slipway verify passes in the chroot", done.stdout + done.stderr)


def check_without_package(checks, root, deb, release):
    done = install(root, deb)
    said = done.stdout + done.stderr
    checks.that(done.returncode == 0, "apt installs a kernel that has no package of the driver, and ends well", said)
    checks.that(f"kernel {release} has no modules of driver" in said and KERNEL in said,
                "its output says so, with the kernels that there are packages for", said)
    checks.that(not modules(root, release) and "nvidia.ko" in modules(root, KERNEL), "the other kernels keep theirs")


def check_removed(checks, root, release):
    done = in_root(root, "apt-get", "purge", "-y", f"linux-image-{release}", check=False)
    said = done.stdout + done.stderr
    checks.that(done.returncode == 0 and f"the files for kernel {release} are removed" in said,
                "apt removes the kernel, and slipway its files", said)
    checks.that(not (root / "usr/lib/modules" / release).exists(), "nothing of the kernel's folder is left", said)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as folder, MOUNTS:
        work = pathlib.Path(folder)
        newer = newer_kernels()
        if len(newer) < 2:
            print("left out: the mirror has fewer than two newer kernels")
            return checks.close()
        with_package, without = newer[0], newer[-1]
        layout = make_package(work, [KERNEL, with_package])
        root = check_installed(checks, work, layout, fetch_kernel(work, with_package), with_package)
        check_dep(checks, root, with_package)
        check_without_package(checks, root, fetch_kernel(work, without), without)
        check_removed(checks, root, with_package)
        done = in_root(root, "slipway", "remove", "driver", "--image", "--yes", check=False)
        checks.that(done.returncode == 0 and not (root / "etc/kernel/postinst.d/00-slipway").exists(),
                    "remove takes the hooks away", done.stdout + done.stderr)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
