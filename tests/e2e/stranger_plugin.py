#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/stranger_plugin.py - a plugin's author, who has slipway and its SDK installed but not its source.
"""A bookworm root with compilers, in which slipway is installed to /opt/slipway. There examples/plugins/sysctl is built with
gcc and with clang, a new plugin is made, and docs/plugin-authors.md is followed from an empty root to the removal; the sysctl
plugin then works beside the real driver on another root: plan, apply, verify, upgrade, rollback, remove. Needs root and
systemd-nspawn."""

import argparse
import pathlib
import re
import shutil
import sys
import tempfile

from checks import Checks, differences, picture
from slipway_host import BUILD, KERNEL, TREE, VERSION, Slipway, must, real_package, run, script

PREFIX = "/opt/slipway"
COMPILERS = {"gcc": "g++", "clang": "clang++-14"}
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {{name: rdma-node}}
spec:
  hardware: assume
  components:
    driver: {{version: "{version}", modules: open, source: {{repository: /package, trust: unsigned}}}}
    sysctl: {{preset: rdma, values: {{vm.swappiness: {swappiness}}}, modules: [ib_umad]}}
"""


class Author:
    """Runs commands in the author's root, in which /target is the host to provision."""

    def __init__(self, root, target, package):
        self.root, self.target, self.package = root, target, package

    def __call__(self, command):
        return run(["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe", "--as-pid2", "-D", self.root,
                    f"--bind={self.target}:/target", f"--bind-ro={self.package}:/package",
                    f"--setenv=PATH={PREFIX}/bin:/usr/sbin:/usr/bin", "--chdir=/root", "sh", "-euc", command])

    def slipway(self, command):
        if command.startswith(("plan", "apply")):
            command += " --without-slipway"
        return self(f"slipway {command} --root /target --kernel {KERNEL}")


def install(author):
    for component in ("core", "plugins", "sdk", "sim"):
        must(["cmake", "--install", BUILD, "--component", component, "--prefix", f"{author.root}{PREFIX}"])
    shutil.copytree(TREE / "examples/plugins/sysctl", author.root / "root/sysctl")


def build(checks, author, folder, compiler):
    made = author(f"cmake -S {folder} -B {folder}-{compiler} -G Ninja -DCMAKE_PREFIX_PATH={PREFIX} "
                  f"-DCMAKE_CXX_COMPILER={COMPILERS[compiler]} -DCMAKE_INSTALL_PREFIX={PREFIX} && "
                  f"cmake --build {folder}-{compiler} && ctest --test-dir {folder}-{compiler} --output-on-failure")
    return checks.that(made.returncode == 0 and "100% tests passed" in made.stdout,
                       f"{folder} is built with {compiler} and passes its tests", made.stdout + made.stderr)


def check_lifecycle(checks, author, compiler):
    """Runs the plugin beside the driver, from installation to removal."""
    done = author(f"cmake --install sysctl-{compiler} && slipway plugin info {PREFIX}/lib/slipway/plugins/sysctl.so")
    checks.that(done.returncode == 0 and "sysctl" in done.stdout, f"{compiler}: installed, slipway knows the plugin",
                done.stdout + done.stderr)
    before = picture(author.target, times=False)
    for swappiness in (1, 2):
        (author.root / f"root/host{swappiness}.yaml").write_text(SPEC.format(version=VERSION, swappiness=swappiness))
    planned = author.slipway("plan -f host1.yaml")
    checks.that(planned.returncode == 2 and "60-slipway.conf" in planned.stdout and "unpack" in planned.stdout,
                f"{compiler}: one plan has the driver and the parameters", planned.stdout + planned.stderr)
    applied = author.slipway("apply --yes -f host1.yaml")
    conf = author.target / "etc/sysctl.d/60-slipway.conf"
    checks.that(applied.returncode == 0 and "vm.swappiness = 1" in conf.read_text(), f"{compiler}: apply",
                applied.stdout + applied.stderr)
    first = picture(author.target, times=False)
    again = author.slipway("apply --yes -f host1.yaml")
    checks.that("Nothing to do" in again.stdout and picture(author.target, times=False) == first,
                f"{compiler}: a second apply has nothing to do", again.stdout + again.stderr)
    verified = author.slipway("verify -f host1.yaml")
    checks.that(verified.returncode == 0 and "sysctl" in verified.stdout, f"{compiler}: verify",
                verified.stdout + verified.stderr)
    changed = author.slipway("apply --yes -f host2.yaml")
    checks.that(changed.returncode == 0 and "vm.swappiness = 2" in conf.read_text(), f"{compiler}: a changed spec",
                changed.stdout + changed.stderr)
    back = author.slipway("rollback 1 --yes")
    checks.that(back.returncode == 0 and "vm.swappiness = 1" in conf.read_text(), f"{compiler}: rollback",
                back.stdout + back.stderr)
    gone = author.slipway("remove --all --yes")
    after = picture(author.target, times=False)
    checks.that(gone.returncode == 0 and after == before, f"{compiler}: remove returns the tree",
                gone.stdout + gone.stderr + differences(before, after))
    checked = author(f"slipway plugin check {PREFIX}/lib/slipway/plugins/sysctl.so -f sysctl/node.yaml")
    checks.that(checked.returncode == 0, f"{compiler}: plugin check finds nothing wrong", checked.stdout + checked.stderr)


def check_new(checks, author):
    made = author("slipway plugin new acme-limits --to acme")
    if checks.that(made.returncode == 0, "plugin new writes a plugin", made.stdout + made.stderr) and \
            build(checks, author, "acme", "clang"):
        checked = author("slipway plugin check acme-clang/acme-limits.so")
        checks.that(checked.returncode == 0, "plugin check finds nothing wrong with it", checked.stdout + checked.stderr)


def check_guide(checks, author):
    """Runs the authors' page block by block, with only installed files of slipway."""
    (author.root / "root/guide/docs").mkdir(parents=True)
    shutil.copy(TREE / "docs/plugin-authors.md", author.root / "root/guide/docs")
    shutil.copy(TREE / "tests/component/out_of_tree/guide.sh", author.root / "root/guide")
    followed = author(f"guide/guide.sh /root/guide {PREFIX} c++")
    took = re.search(r"from an empty root to remove in (\d+) s", followed.stdout)
    checks.that(followed.returncode == 0 and took is not None,
                f"the guide, followed from an empty root to remove: {took.group(1) if took else '?'} s",
                followed.stdout + followed.stderr)


def main():
    parser = argparse.ArgumentParser()
    for option in ("--no-boot", "--full", "--long"):
        parser.add_argument(option, action="store_true", help="changes nothing here")
    parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="stranger-") as folder:
        work = pathlib.Path(folder)
        package = real_package(Slipway(work / "cache"))
        script("make-root.sh", "--with-libraries", "--with-compilers", str(work / "author"))
        script("make-root.sh", str(work / "target"))
        author = Author(work / "author", work / "target", package)
        install(author)
        source = run(["grep", "-rlF", str(TREE), work / f"author{PREFIX}/lib"]).stdout
        checks.that(not [line for line in source.splitlines() if "/cmake/" in line],
                    "the installed SDK does not name the source tree", source)
        for compiler in COMPILERS:
            if build(checks, author, "sysctl", compiler):
                check_lifecycle(checks, author, compiler)
        check_new(checks, author)
        check_guide(checks, author)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
