#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/driver_trap.py - the kernel trap: a kernel on which the real source does not compile.
#
# 535.261.03's open source does not compile on 6.1.0-56: pci_resize_resource() got a fourth parameter there.

import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences, picture  # noqa: E402
from slipway_host import (TRAP_KERNEL, Slipway, debs_folder, root_with_headers, real_package,  # noqa: E402
                          write_spec)

FIRST_ERROR = "nv-pci.c:223:9: error: too few arguments to function 'pci_resize_resource'"


def check_apply(checks, slipway, spec, root):
    """The compile fails: the message contains the compiler's first error, the root is unchanged."""
    before = picture(root, folder_times=False)  # folders in which files were created and removed have a new time
    words = ["--without-slipway", "--root", root, "--kernel", TRAP_KERNEL, "-f", spec]
    status, out, err, _ = slipway("plan", *words)
    checks.that(status == 2 and "compile NVIDIA" in out, "plan says that the modules will be compiled", out + err)
    status, out, err, seconds = slipway("apply", *words)
    text = out + err
    checks.that(status == 1, f"apply fails where the source does not compile ({seconds:.0f} s)", text)
    checks.that(FIRST_ERROR in text, "the message holds the compiler's first error", text)
    checks.that("Nothing to do" not in text and "slipway-boot: changed" not in text,
                "and claims nothing that is not so", text)
    after = picture(root, folder_times=False)
    checks.that(after == before, "and the root is as it was", differences(before, after))


def check_memory(checks, slipway, spec, root):
    """A failed compile is known from then on, and reported before any change."""
    before = picture(root)
    words = ["--without-slipway", "--root", root, "--kernel", TRAP_KERNEL, "-f", spec]
    for verb in ("plan", "apply"):
        status, out, err, seconds = slipway(verb, *words)
        text = out + err
        checks.that(status == 1 and seconds < 10, f"a following {verb} says so at once ({seconds * 1000:.0f} ms)", text)
        checks.that(FIRST_ERROR in text and "earlier build failed" in text,
                    f"the {verb} names the earlier failure and the compiler's first error", text)
        checks.that("Nothing to do" not in text, f"the {verb} claims nothing that is not so", text)
    checks.that(picture(root) == before, "and both leave the root as it was", differences(before, picture(root)))


def check_catalogue(checks, slipway, work, layout, root):
    """`driver build --record-failure` records it in the package: other machines know it without compiling."""
    recorded = work / "recorded"
    shutil.copytree(layout, recorded, symlinks=True)
    status, out, err, seconds = slipway("driver", "build", "--debs", debs_folder(), "--kernel", TRAP_KERNEL, "--os",
                                        "debian12", "--with-source", "--record-failure", "--output", recorded)
    checks.that(status == 0, f"driver build --record-failure records the failure ({seconds:.0f} s)", out + err)
    spec = work / "recorded.yaml"
    write_spec(spec, f"{{repository: {recorded}, trust: unsigned}}")
    stranger = Slipway(work / "another-cache")
    before = picture(root)
    status, out, err, seconds = stranger("plan", "--without-slipway", "--root", root, "--kernel", TRAP_KERNEL, "-f", spec)
    text = out + err
    checks.that(status == 1 and "known not to compile" in text and "pci_resize_resource" in text,
                f"a plan with another cache knows it from the catalogue ({seconds * 1000:.0f} ms)", text)
    status, out, err, _ = stranger("apply", "--without-slipway", "--root", root, "--kernel", TRAP_KERNEL, "-f", spec)
    checks.that(status == 1 and picture(root) == before, "and apply leaves the root as it was", out + err)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as folder:
        work = pathlib.Path(folder)
        slipway = Slipway(work / "cache")
        layout = real_package(slipway)
        root = root_with_headers(work / "root", TRAP_KERNEL)
        spec = work / "host.yaml"
        write_spec(spec, f"{{repository: {layout}, trust: unsigned}}")
        check_apply(checks, slipway, spec, root)
        check_memory(checks, slipway, spec, root)
        check_catalogue(checks, slipway, work, layout, root)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
