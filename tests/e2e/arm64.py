#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/arm64.py - slipway cross-built for arm64: its unit tests, and a driver in an arm64 root, under qemu-user.
"""`./dev arm64` builds core and driver and runs their unit tests. Then the cross-built program itself takes a root for arm64 from
plan to removal: its workers are arm64 programs too, and so are the root's own ldconfig and depmod, which run in slipway's sandbox.
All of it in namespaces of its own (arm64-run.sh): the machine is as it was. What qemu-user cannot show runs in a booted machine."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from arm64_machine import run_in_machine
from checks import Checks, differences, picture
from slipway_host import BUILD, HERE, TREE, must, run

CROSS = TREE / "build" / "arm64"
KERNEL = "6.1.0-50-arm64"
VERSION = "535.261.03"
LIBDIR = "usr/lib/aarch64-linux-gnu"
TOOLS = ("usr/bin/dash", "usr/bin/sh", "usr/bin/kmod", "usr/sbin/depmod", "usr/sbin/ldconfig")
LIBRARIES = ("ld-linux-aarch64.so.1", "libc.so.6", "liblzma.so.5", "libzstd.so.1", "libcrypto.so.3")
FORMATS = pathlib.Path("/proc/sys/fs/binfmt_misc")
MACHINE = ("build/arm64/bin/slipway", "build/arm64/bin/slipway-engine", "build/arm64/bin/slipway-worker",
           "build/arm64/bin/slipway-artifact.so", "build/arm64/lib/slipway/plugins/driver.so")


def machine():
    """Returns what the test could have changed on this machine by mistake."""
    return (sorted(path.name for path in FORMATS.iterdir()), must(["dpkg", "--print-foreign-architectures"]),
            sorted(path.name for path in pathlib.Path("/usr/lib").iterdir()),
            must(["dpkg-query", "-W", "-f", "${Package} ${Architecture}\\n"]).count("arm64"))


def text_of(done):
    return f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


def elf_header(path):
    done = run(["readelf", "-hd", path])
    found = re.search(r"Machine:\s+(\S+)", done.stdout)
    return (found.group(1) if found else "none"), "(NEEDED)" in done.stdout


class Lab:
    """The cross-built slipway, a package for arm64, and a root with the arm64 tools that a driver needs."""

    def __init__(self, work, folder):
        self.work = work
        self.folder = folder
        self.spec = work / "host.yaml"
        self.spec.write_text("apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: arm64}\nspec:\n  hardware: assume\n"
                             f'  components:\n    driver: {{version: "{VERSION}", modules: open, '
                             f'source: {{repository: "{work}/package", trust: unsigned}}}}\n')

    def inside(self, *words):
        return run([HERE / "arm64-run.sh", self.folder, *words])

    def slipway(self, command, root, *more):
        without = ["--without-slipway"] if command.startswith(("plan", "apply")) else []
        return self.inside(CROSS / "bin/slipway", *command.split(), *without, "--root", root, "--kernel", KERNEL, "--cache",
                           self.work / "cache", *more)

    def root(self, name, tools):
        root = self.work / name
        for folder in ("usr/bin", "usr/sbin", LIBDIR, f"usr/lib/modules/{KERNEL}", "usr/lib/firmware", "etc/modprobe.d",
                       "dev", "proc", "sys", "tmp", "var/lib"):
            (root / folder).mkdir(parents=True)
        for link in ("bin", "sbin", "lib"):
            (root / link).symlink_to("usr/" + link)
        (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="12"\n')
        for path in tools:
            shutil.copy(self.folder / "sysroot" / path, root / path)
        for name in LIBRARIES if tools else ():
            shutil.copy(self.folder / "sysroot" / LIBDIR / name, root / LIBDIR / name)
        if tools:
            (root / "usr/lib/ld-linux-aarch64.so.1").symlink_to("aarch64-linux-gnu/ld-linux-aarch64.so.1")
        return root


def check_unit_tests(checks):
    done = run([TREE / "dev", "arm64"])
    said = done.stdout + done.stderr
    found = re.search(r"(\d+)% tests passed, (\d+) tests failed out of (\d+)", said)
    checks.that(done.returncode == 0 and found is not None and found.group(2) == "0" and int(found.group(3)) > 900,
                f"the unit tests of core and driver under qemu-user: {found.group(0) if found else 'none'}", said)
    skipped = re.findall(r"\d+ - (\S+) \(Skipped\)", said)
    print(f"    {len(skipped)} skip themselves: {' '.join(skipped)}", flush=True)
    print("    " + "\n    ".join((TREE / "tests/arm64-left-out").read_text().splitlines()), flush=True)


def check_programs(checks, lab):
    headers = {path: elf_header(TREE / path) for path in MACHINE}
    checks.that(all(header[0] == "AArch64" for header in headers.values()), "programs and plugins are for AArch64", headers)
    checks.that(not headers[MACHINE[0]][1], "slipway itself is static", headers)
    loads = {path: [int(line.split()[-1], 16) for line in run(["readelf", "-lW", TREE / path]).stdout.splitlines()
                    if line.split()[:1] == ["LOAD"]] for path in MACHINE}
    checks.that(all(aligned and min(aligned) >= 0x10000 for aligned in loads.values()),
                "their segments are aligned for kernels with pages of 64 KiB", loads)
    done = lab.inside(CROSS / "bin/slipway", "version")
    checks.that(done.returncode == 0 and re.search(r"\d+\.\d+", done.stdout) is not None,
                f"it runs: {done.stdout.splitlines()[0] if done.stdout else ''}", text_of(done))
    done = lab.inside(CROSS / "bin/slipway", "plugin", "list")
    checks.that("driver" in done.stdout and done.returncode == 0, "it lists the plugin driver", text_of(done))


def check_root(checks, lab):
    root = lab.root("root", TOOLS)
    before = picture(root, times=False)
    done = lab.slipway("plan", root, "-f", lab.spec)
    checks.that(done.returncode == 2 and f" in /{LIBDIR}: libcuda.so.1," in done.stdout, "plan: libraries go where arm64 has them",
                text_of(done))
    done = lab.slipway("apply --yes", root, "-f", lab.spec)
    link = root / LIBDIR / "libcuda.so.1"
    checks.that(done.returncode == 0 and link.is_symlink(), "apply: all of it, with workers that are arm64 programs", text_of(done))
    listed = lab.inside("chroot", root, "/sbin/ldconfig", "-p").stdout
    checks.that("libcuda.so.1 (libc6,AArch64)" in listed, "the root's own ldconfig ran and knows the libraries", listed)
    modules = root / f"lib/modules/{KERNEL}/modules.dep"
    checks.that(modules.exists() and "nvidia.ko" in modules.read_text(), "the root's own depmod ran and knows the modules",
                text_of(done))
    done = lab.inside("chroot", root, "/usr/lib/slipway/store/driver/current/userspace/usr/bin/nvidia-smi")
    checks.that(done.returncode == 0 and "demonstration package" in done.stdout,
                "the package's program runs in the root and finds its library", text_of(done))
    done = lab.slipway("verify --deep", root, "-f", lab.spec)
    checks.that(done.returncode == 0, "verify --deep", text_of(done))
    done = lab.slipway("apply --yes", root, "-f", lab.spec)
    checks.that(done.returncode == 0 and "Nothing to do" in done.stdout, "a second apply has nothing to do", text_of(done))
    done = lab.slipway("remove --yes --all", root)
    after = picture(root, times=False)
    checks.that(done.returncode == 0 and after == before, "remove brings every path back", text_of(done)
                + differences(before, after))


def check_other_processors(checks, lab):
    """On arm64 the foreign root is an x86_64 one, and the package for arm64 does not fit it."""
    root = lab.root("foreign", ())
    shutil.copy("/bin/true", root / "usr/bin/sh")
    (root / "usr/lib/x86_64-linux-gnu").mkdir()
    before = picture(root, times=False)
    done = lab.slipway("apply --yes", root, "-f", lab.spec)
    checks.that(done.returncode == 1 and "x86_64" in done.stderr + done.stdout and picture(root, times=False) == before,
                "a package for arm64 does not go into a root for x86_64", text_of(done))
    must([TREE / "examples/demo/make-package", "--slipway", lab.work / "slipway", "--kernel", KERNEL, "--version", VERSION,
          lab.work / "package-x86"])
    spec = lab.work / "x86.yaml"
    spec.write_text(lab.spec.read_text().replace(f"{lab.work}/package", f"{lab.work}/package-x86"))
    done = lab.slipway("apply --yes", root, "-f", spec)
    checks.that(done.returncode == 1 and f"the root {root} is for x86_64, and its own ldconfig would have to run" in done.stderr
                + done.stdout and picture(root, times=False) == before,
                "a root for x86_64 is refused where its own tools would have to run", text_of(done))


def check_real_driver(checks, lab):
    """Debian's files of NVIDIA's driver for arm64, packed by this machine's slipway. The modules are left as source: an emulated
    compiler would take hours."""
    debs = must(["bash", HERE / "arm64-debs.sh"]).strip()
    layout = lab.work / "real"
    done = run([BUILD / "bin/slipway", "driver", "build", "--debs", debs, "--with-source", "--os", "debian12", "--output", layout,
                "--scratch", lab.work])
    checks.that(done.returncode == 0 and "source only" in done.stdout, "Debian's real driver for arm64 becomes a package",
                text_of(done))
    done = lab.inside(CROSS / "bin/slipway", "pkg", "inspect", layout, "-o", "json")
    checks.that('"dev.slipway.arch":"aarch64"' in done.stdout.replace(": ", ":") and LIBDIR in done.stdout
                and "libnvidia-ptxjitcompiler.so.1" in done.stdout,
                "which says what it is for, and knows the libraries by their sonames", text_of(done))
    both = lab.work / "both"
    shutil.copytree(debs, both)
    (both / "libcuda1_amd64.deb").write_bytes(amd64_deb(lab.work))
    done = run([BUILD / "bin/slipway", "driver", "build", "--debs", both, "--with-source", "--os", "debian12", "--output",
                lab.work / "mixed", "--scratch", lab.work])
    checks.that(done.returncode == 1 and "for several processors: amd64, arm64" in done.stderr, "a mix of processors is refused",
                text_of(done))


def cases_of(lab, program):
    """Returns the names of all cases of a test program."""
    names, suite = [], ""
    for line in lab.inside(CROSS / "tests" / program, "--gtest_list_tests").stdout.splitlines():
        word = line.split("#")[0].strip()
        suite = word if line[:1].strip() and word.endswith(".") else suite
        if line.startswith("  "):
            names.append(suite + word)
    return names


def check_left_out(checks, lab):
    """Tests that prove nothing under qemu-user run on a real arm64 kernel, in a machine that boots."""
    patterns = [line.split()[0] for line in (TREE / "tests/arm64-left-out").read_text().splitlines() if not line.startswith("#")]
    programs = {name: cases_of(lab, name) for name in ("action_test", "root_fs_test", "sandbox_test", "sdk_test", "worker_test")}
    checks.that(all(any(re.fullmatch(pattern, case) for cases in programs.values() for case in cases) for pattern in patterns),
                "every entry of tests/arm64-left-out is a test", programs)
    wanted = {name: [case for case in cases if any(re.fullmatch(pattern, case) for pattern in patterns)]
              for name, cases in programs.items()}
    files = [CROSS / "tests" / name for name in wanted] + [CROSS / "bin/slipway-worker", CROSS / "bin/sandbox-attacker",
                                                            *(CROSS / "tests/unit/core/worker").glob("*.so")]
    said = run_in_machine(lab.work, lab.folder, pathlib.Path(must(["bash", HERE / "arm64-debs.sh"]).strip()), files,
                          [f"{CROSS}/tests/{name} --gtest_color=no --gtest_filter={':'.join(cases)}" for name, cases in wanted.items()])
    allowed = [line.split()[1] for line in (TREE / "tests/skips-allowed").read_text().splitlines() if line.startswith("any ")]
    for name, cases in wanted.items():
        passed = [case for case in cases if f"[       OK ] {case} " in said]
        skipped = [case for case in cases if f"[  SKIPPED ] {case} (" in said and any(re.fullmatch(each, case) for each in allowed)]
        if skipped:
            print(f"    {name}: skip themselves, as tests/skips-allowed says: {' '.join(skipped)}", flush=True)
        checks.that(passed and sorted(passed + skipped) == sorted(cases),
                    f"{name}: what is left out under qemu-user passes on an arm64 kernel: {' '.join(passed)}", said)


def amd64_deb(work):
    """Creates libcuda1 for amd64, of which only the name and the architecture matter here."""
    control = work / "amd64/DEBIAN/control"
    control.parent.mkdir(parents=True)
    control.write_text(f"Package: libcuda1\nVersion: {VERSION}-1\nArchitecture: amd64\nMaintainer: e2e <e2e@localhost>\n"
                       "Description: a test\n")
    must(["dpkg-deb", "--build", control.parent.parent, work / "amd64.deb"])
    return (work / "amd64.deb").read_bytes()


def main():
    checks = Checks()
    before = machine()
    check_unit_tests(checks)
    folder = pathlib.Path(os.environ.get("SLIPWAY_E2E_CACHE")
                          or pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "slipway-e2e") / "arm64"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        lab = Lab(pathlib.Path(name), folder)
        # make-package is a script of this machine: the slipway that it calls is for arm64, under the emulator.
        wrapper = lab.work / "slipway"
        wrapper.write_text(f'#!/bin/sh\nexec {HERE}/arm64-run.sh {folder} {CROSS}/bin/slipway "$@"\n')
        wrapper.chmod(0o755)
        check_programs(checks, lab)
        done = run([TREE / "examples/demo/make-package", "--slipway", wrapper, "--kernel", KERNEL, "--version", VERSION,
                    "--machine", "aarch64", lab.work / "package"])
        index = lab.work / "package/index.json"
        checks.that(done.returncode == 0 and index.exists() and json.loads(index.read_text())["manifests"] != [],
                    "it packs a driver for arm64", text_of(done))
        check_root(checks, lab)
        check_other_processors(checks, lab)
        check_real_driver(checks, lab)
        if "--no-boot" not in sys.argv:
            check_left_out(checks, lab)
    after = machine()
    checks.that(before == after, "the machine has the packages, architectures and formats that it had", f"{before}\n{after}")
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
