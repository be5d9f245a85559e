#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/roots.py - roots of every kind that do not run: overlayfs, /usr read-only or not merged, absolute links, labels and ACLs,
# files that something is mounted on, another processor's; a plain chroot without systemd; plan and status by an ordinary user.
"""Real roots of Debian bookworm, real mounts, the demonstration driver. Everything that succeeds is removed again, and the tree is
then as it was, extended attributes included. Needs root."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from checks import Checks, differences, picture
from slipway_host import BUILD, KERNEL, TREE, must, run, script

CONFIG = "etc/containerd/config.toml"
ADMINS = "# the admin's own words\nversion = 2\n"
NOBODY = 65534
# An access list: owner rw, user 1000 r, group r, mask r, others nothing (acl(5); linux/posix_acl_xattr.h).
ACL = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in
                                      ((1, 6, 0xFFFFFFFF), (2, 4, 1000), (4, 4, 0xFFFFFFFF), (16, 4, 0xFFFFFFFF),
                                       (32, 0, 0xFFFFFFFF)))
LABELS = {"security.selinux": b"system_u:object_r:container_config_t:s0\0", "system.posix_acl_access": ACL,
          "user.origin": b"admin"}


class Mounts:
    """Mounts below a folder, undone in reverse order."""

    def __init__(self):
        self.targets = []

    def add(self, *words):
        must(["mount", *words])
        self.targets.append(words[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for target in reversed(self.targets):
            must(["umount", target])


class Lab:
    """Specs, packages, and the portable folder, so that slipway runs in chroots and for every user."""

    def __init__(self, work):
        self.work = work
        work.chmod(0o755)
        must([TREE / "deploy/portable/make-folder", BUILD, work / "slipway"])
        subprocess.run([TREE / "examples/demo/make-package", "--slipway", BUILD / "bin/slipway", "--kernel", KERNEL,
                        work / "package"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        script("engine-root.sh", "bookworm", str(work / "bookworm"))
        must(["chmod", "-R", "a+rX", work / "package"])

    def spec(self, name, components):
        file = self.work / f"{name}.yaml"
        file.write_text("apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: roots}\nspec:\n  hardware: assume\n"
                        f"  components:\n{components}")
        return file

    def driver(self):
        return self.spec("driver", '    driver: {version: "535.261.03", modules: open, '
                         f'source: {{repository: "{self.work}/package", trust: unsigned}}}}\n')

    def runtime(self):
        return self.spec("runtime", "    runtime: {engines: [containerd]}\n")

    def services(self):
        return self.spec("services", "    gfd: {}\n")

    def slipway(self, command, root, spec=None, prefix=()):
        without = ["--without-slipway"] if command.startswith(("plan", "apply")) else []
        looks = command.startswith("status")  # it compiles and downloads nothing
        words = [*prefix, self.work / "slipway/bin/slipway", *command.split(), *without, "--root", root,
                 *([] if looks else ["--kernel", KERNEL, "--cache", self.work / "cache"]), *(["-f", spec] if spec else [])]
        done = run(words)
        return done.returncode, done.stdout + done.stderr

    def copy(self, name):
        root = self.work / name
        must(["cp", "-a", self.work / "bookworm", root])
        (root / f"lib/modules/{KERNEL}").mkdir(parents=True, exist_ok=True)
        shutil.copy(self.work / "slipway/bin/slipway-runtime", root / "usr/bin")  # for containerd 1.6
        return root


def small_root(work, name, unmerged=False):
    """Creates the folders of a root, with only the files that identify its machine."""
    root = work / name
    for folder in ("usr/bin", "usr/sbin", f"usr/lib/modules/{KERNEL}", "usr/lib64", "usr/lib/firmware", "etc/modprobe.d", "var/lib"):
        (root / folder).mkdir(parents=True)
    for folder in ("bin", "sbin", "lib64", f"lib/modules/{KERNEL}") if unmerged else ():
        (root / folder).mkdir(parents=True)
    if unmerged:
        shutil.rmtree(root / "usr/lib/modules")
    for link in () if unmerged else ("bin", "sbin", "lib", "lib64"):
        (root / link).symlink_to("usr/" + link)
    (root / "etc/hostname").write_text("node\n")
    return root


def goes_in_and_out(checks, lab, root, spec, sentence, inside=lambda: True):
    """Apply, verify, apply again, remove."""
    before = picture(root, times=False)
    first = lab.slipway("apply --yes", root, spec)
    verified = lab.slipway("verify --deep", root, spec)
    second = lab.slipway("apply --yes", root, spec)
    checks.that(first[0] == 0 and verified[0] == 0 and "Nothing to do" in second[1] and inside(),
                f"{sentence}: apply, verify, nothing left to do", "\n".join((first[1], verified[1], second[1])))
    status, said = lab.slipway("remove --yes --all", root)
    after = picture(root, times=False)
    checks.that(status == 0 and after == before, f"{sentence}: remove brings every path back", said
                + differences(before, after))


def is_refused(checks, lab, root, spec, sentence, *says, command="apply --yes"):
    before = picture(root, times=False)
    status, said = lab.slipway(command, root, spec)
    checks.that(status == 1 and all(word in said for word in says), f"{sentence}: refused in words", f"{status}\n{said}")
    after = picture(root, times=False)
    checks.that(after == before, f"{sentence}: and nothing is changed", differences(before, after))


def check_overlay(checks, lab):
    lower = lab.copy("lower")
    untouched = picture(lower)
    for name in ("upper", "overlay-work", "merged"):
        (lab.work / name).mkdir()
    with Mounts() as mounts:
        mounts.add("-t", "overlay", "overlay", "-o",
                   f"lowerdir={lower},upperdir={lab.work}/upper,workdir={lab.work}/overlay-work", lab.work / "merged")
        goes_in_and_out(checks, lab, lab.work / "merged", lab.driver(), "overlayfs")
    checks.that(picture(lower) == untouched, "overlayfs: the image below is as it was")


def check_read_only_usr(checks, lab):
    root = lab.copy("read-only")
    with Mounts() as mounts:
        mounts.add("--bind", root / "usr", root / "usr")
        must(["mount", "-o", "remount,bind,ro", root / "usr"])
        is_refused(checks, lab, root, lab.driver(), "/usr read-only, a driver", "Read-only file system")
        goes_in_and_out(checks, lab, root, lab.services(), "/usr read-only, what needs only /etc",
                        (root / "etc/systemd/system/slipway-gfd.service").exists)


def check_unmerged(checks, lab):
    root = small_root(lab.work, "unmerged", unmerged=True)
    link = root / f"lib/modules/{KERNEL}/updates/slipway"
    goes_in_and_out(checks, lab, root, lab.driver(), "/usr not merged",
                    lambda: link.is_symlink() and (link / "nvidia.ko").exists() and not (root / "usr/lib/modules").exists())
    root = lab.copy("merged-usr")
    goes_in_and_out(checks, lab, root, lab.driver(), "/usr merged",
                    lambda: (root / f"usr/lib/modules/{KERNEL}/updates/slipway/nvidia.ko").exists())


def check_absolute_links(checks, lab):
    root = lab.copy("absolute")
    place = pathlib.PurePath(f"srv/slipway-e2e-{os.getpid()}")
    for name in ("etc/modprobe.d", "etc/ld.so.conf.d", "etc/systemd/system"):
        (root / name).mkdir(exist_ok=True)
        (root / place / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).rename(root / place / name)
        (root / name).symlink_to("/" / place / name)
    goes_in_and_out(checks, lab, root, lab.driver(), "absolute links", lambda: (root / place / "etc/systemd/system/slipway-boot.service").exists()
                    and (root / place / "etc/modprobe.d/slipway-nvidia.conf").exists() and not pathlib.Path("/" / place).exists())


def labels_of(file):
    return {name: os.getxattr(file, name) for name in LABELS}


def check_labels(checks, lab):
    root = lab.copy("labelled")
    file = root / CONFIG
    file.parent.mkdir(exist_ok=True)
    file.write_text(ADMINS)
    for name, value in LABELS.items():
        os.setxattr(file, name, value)
    os.chown(file, 0, 42)
    had = labels_of(file), file.stat().st_mode, file.stat().st_gid
    goes_in_and_out(checks, lab, root, lab.runtime(), "a file with an SELinux label, an ACL and an attribute of the user's",
                    lambda: "nvidia" in file.read_text() and (labels_of(file), file.stat().st_mode, file.stat().st_gid) == had)


def check_mounted_file(checks, lab):
    root = lab.copy("mounted")
    (root / CONFIG).parent.mkdir(exist_ok=True)
    (root / CONFIG).write_text("")
    (lab.work / "mounted.toml").write_text(ADMINS)
    with Mounts() as mounts:
        mounts.add("--bind", lab.work / "mounted.toml", root / CONFIG)
        is_refused(checks, lab, root, lab.runtime(), "a file that something is mounted on", f"/{CONFIG} is mounted from elsewhere",
                   "umount")


def check_foreign(checks, lab):
    if os.path.exists("/proc/sys/fs/binfmt_misc/qemu-s390x"):
        return
    root = small_root(lab.work, "foreign")
    (root / "bin/sh").write_bytes(b"\177ELF\2\2\1".ljust(18, b"\0") + b"\0\026".ljust(46, b"\0"))
    for command in ("plan", "apply --yes"):
        is_refused(checks, lab, root, lab.driver(), f"a root for s390x, {command}", "is for s390x", "ldconfig would have to run",
                   command=command)
    goes_in_and_out(checks, lab, root, lab.services(), "a root for s390x, what needs none of its programs")


def check_chroot(checks, lab):
    """Uses a plain chroot: its "/" is not a mount point, it has no systemd, and a root inside runs depmod in a
    sandbox."""
    outer = lab.copy("outer")
    must(["cp", "-a", lab.work / "slipway", outer / "opt/slipway"])
    must(["cp", "-a", lab.work / "package", outer / "opt/package"])
    must(["cp", "-a", lab.work / "merged-usr", outer / "inner"])
    text = lab.driver().read_text().replace(f"{lab.work}/package", "/opt/package")
    (outer / "driver.yaml").write_text(text)
    (outer / "services.yaml").write_text(lab.services().read_text())
    words = ["chroot", outer, "/opt/slipway/bin/slipway"]
    with Mounts() as mounts:
        mounts.add("-t", "proc", "proc", outer / "proc")
        before = picture(outer / "inner", times=False)
        done = run([*words, "apply", "--yes", "--without-slipway", "--root", "/inner", "--kernel", KERNEL, "-f", "/driver.yaml"])
        listed = (outer / f"inner/usr/lib/modules/{KERNEL}/modules.dep").read_text() if done.returncode == 0 else ""
        # systemd of a root that does not run is not asked to read its units again.
        skipped = [line for line in done.stdout.splitlines() if "skipped" in line and "daemon-reload was skipped" not in line]
        checks.that(done.returncode == 0 and "nvidia.ko" in listed and not skipped,
                    "a plain chroot: the tools of a root inside run in their sandbox", done.stdout + done.stderr)
        done = run([*words, "remove", "--yes", "--all", "--root", "/inner", "--kernel", KERNEL])
        after = picture(outer / "inner", times=False)
        checks.that(done.returncode == 0 and before == after, "a plain chroot: and removed", done.stdout + done.stderr
                    + differences(before, after))
        done = run([*words, "apply", "--yes", "-f", "/services.yaml"])
        checks.that(done.returncode == 64 and "--image" in done.stderr and "--live" in done.stderr,
                    "a plain chroot: whether it is an image or a machine is asked", done.stdout + done.stderr)
        done = run([*words, "apply", "--yes", "--live", "-f", "/services.yaml"])
        checks.that(done.returncode in (0, 1) and (outer / "etc/systemd/system/slipway-gfd.service").exists()
                    and "systemd" in done.stdout + done.stderr and "slipway-gfd" in done.stdout,
                    "a live machine without systemd: the unit is there, and that nobody starts it is said",
                    f"{done.returncode}\n{done.stdout}{done.stderr}")
        done = run([*words, "remove", "--yes", "--all", "--live"])
        checks.that(done.returncode == 0 and not (outer / "etc/systemd/system/slipway-gfd.service").exists(),
                    "a live machine without systemd: and removed", done.stdout + done.stderr)


def check_ordinary_user(checks, lab):
    root = lab.copy("read-by-all")
    as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env", "HOME=/nonexistent",
                 f"XDG_CACHE_HOME={lab.work}/nobody")
    (lab.work / "nobody").mkdir(mode=0o777)
    os.chown(lab.work / "nobody", NOBODY, NOBODY)
    before = picture(root)

    def as_user(*words):
        done = run([*as_nobody, lab.work / "slipway/bin/slipway", *words, "--root", root, "--kernel", KERNEL])
        return done.returncode, done.stdout + done.stderr

    status, said = as_user("plan", "--without-slipway", "-f", lab.driver())
    checks.that(status == 2 and "libcuda.so.1" in said and picture(root) == before, "an ordinary user plans a bare root", said)
    status, said = as_user("status")
    checks.that(status == 0, "an ordinary user asks for the status of a bare root", said)
    status, said = lab.slipway("apply --yes", root, lab.driver())
    before = picture(root)
    status, said = as_user("plan", "--without-slipway", "-f", lab.driver())
    checks.that(status == 0 and "Nothing to do" in said and "so this plan lacks removals and edits" in said,
                "an ordinary user sees that nothing is left to do, and that slipway's records count for root alone", said)
    status, said = as_user("status")
    checks.that(status == 0 and f"Kernel  {KERNEL}" in said and "can be read only by root" in said and "as root (sudo)" in said,
                "an ordinary user sees the machine, and that what slipway applied can be read only by root", said)
    status, said = lab.slipway("status", root)
    checks.that(status == 0 and "Generation 1" in said and "driver" in said, "root sees what slipway owns", said)
    status, said = as_user("remove", "--yes", "--all")
    checks.that(status == 1 and picture(root) == before, "and cannot change anything", said)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="slipway-e2e.") as name:
        lab = Lab(pathlib.Path(name))
        for check in (check_overlay, check_read_only_usr, check_unmerged, check_absolute_links, check_labels, check_mounted_file,
                      check_foreign, check_chroot, check_ordinary_user):
            check(checks, lab)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
