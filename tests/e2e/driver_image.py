#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/driver_image.py - a real driver in a real image that boots: package, registry, apply, boot, verify, remove.

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import Checks, differences, picture  # noqa: E402
from guest import Vm, make_image  # noqa: E402
from slipway_host import (KERNEL, TRAP_KERNEL, VERSION, Slipway, install_into, must, real_package,  # noqa: E402
                          script, write_spec)

REPOSITORY = "nvidia/driver"
SERVICES = ("deviceplugin", "gfd", "validator")
QUIET = 40  # seconds to watch after the boot


def check_apply(checks, slipway, spec, root, twin):
    before = picture(root, times=False)
    words = ["--without-slipway", "--kernel", KERNEL, "-f", spec]
    status, out, err, _ = slipway("plan", "--root", root, *words)
    checks.that(status == 2, "plan exits with 2 and shows what would change", out + err)
    checks.that(picture(root, times=False) == before, "plan changes nothing")
    for target in (root, twin):
        status, out, err, seconds = slipway("apply", "--root", target, *words)
        checks.that(status == 0, f"apply provisions the root ({seconds:.1f} s)", out + err)
    left, right = picture(root), picture(twin)
    checks.that(left == right, "two applies to two copies give equal trees, times and attributes included",
                differences(left, right))
    return before


def check_second_apply(checks, slipway, spec, root):
    seen = picture(root)
    times = []
    for _ in range(5):
        status, out, err, seconds = slipway("apply", "--without-slipway", "--root", root, "--kernel", KERNEL, "-f", spec)
        times.append(seconds)
        if status != 0 or "Nothing to do" not in out:
            break
    checks.that(status == 0 and "Nothing to do" in out, "a second apply has nothing to do, without its registry",
                out + err)
    checks.that(picture(root) == seen, "and changes nothing", differences(seen, picture(root)))
    print(f"    second apply: {sorted(times)[len(times) // 2] * 1000:.0f} ms (median of {len(times)})")


def check_without_gpu(checks, vm):
    """Checks that no program of slipway makes the kernel load a driver without a GPU after the boot, however long
    that takes."""
    booted = float(vm.run("cut -d' ' -f1 /proc/uptime").stdout)
    vm.run(f"sleep {QUIET}", 300)
    log = vm.run("dmesg").stdout
    times = [re.match(r"\[ *([0-9.]+)\]", line) for line in log.splitlines() if re.search("nvidia|NVRM", line, re.IGNORECASE)]
    late = [time.group() for time in times if time and float(time.group(1)) > booted]
    checks.that(not late, "without a GPU the kernel's log has no line of the driver after the boot", log[-4000:])
    for name in SERVICES:
        seen = vm.run(f"systemctl show slipway-{name}.service -p ActiveState -p Result -p NRestarts").stdout
        checks.that("ActiveState=inactive" in seen and "NRestarts=0" in seen, f"the service of {name} waits for a GPU", seen)
    rules = vm.run("udevadm test /sys/bus/pci/devices/$(ls /sys/bus/pci/devices | head -n 1) 2>&1 | grep -c 72-slipway").stdout
    checks.that(rules.strip() not in ("", "0"), "udev reads the rules that start them", rules)


def check_guest(checks, root, work):
    image = work / "disk.img"
    make_image(str(root), str(image))
    with Vm(str(image), work=str(work / "vm"), boot_timeout=600) as vm:
        state = vm.wait_until_started(600)
        checks.that(state == "running", "the image boots with no failed unit",
                    state + vm.run("systemctl --failed --no-legend").stdout + vm.run("journalctl -b -u 'slipway*' -o cat | tail -n 80").stdout)
        info = vm.run("modinfo nvidia").stdout
        checks.that(VERSION in info and f"vermagic:       {KERNEL} SMP" in info,
                    "modinfo shows the version and the kernel's vermagic", info)
        check_without_gpu(checks, vm)
        vm.run("modprobe nvidia")
        log = vm.run("dmesg").stdout
        checks.that("NVRM: No NVIDIA GPU found" in log, "modprobe nvidia gets as far as it can without a GPU",
                    "\n".join(log.splitlines()[-15:]))
        cache = vm.run("ldconfig -p").stdout
        checks.that("libcuda.so.1" in cache and "libnvidia-ml.so.1" in cache, "ldconfig -p has libcuda and libnvidia-ml",
                    cache)
        verified = vm.run("slipway verify", 300)
        checks.that(verified.status == 0 and "not-applicable" in verified.stdout,
                    "slipway verify: hardware not applicable, files pass, exit 0", verified.stdout + verified.stderr)
        boot = vm.run("systemctl show slipway-boot.service -p ActiveState -p Result; journalctl -u slipway-boot --no-pager")
        checks.that("ActiveState=active" in boot.stdout and "Result=success" in boot.stdout, "slipway-boot ran",
                    boot.stdout)
        held = "find /etc /usr/lib/slipway /usr/lib/modules /var/lib/slipway -type f -print0 | sort -z | xargs -0 sha256sum"
        first = vm.check(held, 600)
        vm.reboot(600)
        state = vm.wait_until_started(600)
        second = vm.check(held, 600)
        checks.that(state == "running" and first == second, "after a reboot nothing has changed that need not",
                    "\n".join(sorted(set(first.splitlines()) ^ set(second.splitlines()))))
        vm.power_off()


def check_remove(checks, slipway, root, before):
    status, out, err, _ = slipway("remove", "--all", "--root", root)
    checks.that(status == 0, "remove takes everything away", out + err)
    after = picture(root, times=False)
    checks.that(after == before, "and returns the root to its earlier tree, hash for hash", differences(before, after))


def check_unknown_kernel(checks, slipway, layout, work):
    """535.261.03's open source does not compile on 6.1.0-56: the plan says so, from the catalogue."""
    root = work / "trap"
    (root / "lib/modules" / TRAP_KERNEL).mkdir(parents=True)
    (root / "lib/modules" / TRAP_KERNEL / "modules.order").touch()
    spec = work / "unknown.yaml"
    write_spec(spec, f"{{repository: {layout}, trust: unsigned}}")
    before = picture(root)
    status, out, err, _ = slipway("plan", "--without-slipway", "--root", root, "-f", spec)
    checks.that(status == 1 and TRAP_KERNEL in out + err, "no package for the kernel: plan names it and what is there",
                out + err)
    checks.that(KERNEL in out + err, "and the kernels that there are packages for", out + err)
    status, out, err, _ = slipway("apply", "--without-slipway", "--root", root, "-f", spec)
    checks.that(status == 1 and picture(root) == before, "and apply leaves the root as it was", out + err)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.") as folder:
        work = pathlib.Path(folder)
        slipway = Slipway(work / "cache")
        layout = real_package(slipway)
        checks.that((layout / "index.json").exists(), "driver build makes the real package")
        root, twin = work / "root", work / "twin"
        script("make-root.sh", "--with-libraries", str(root))
        install_into(root)
        must(["cp", "-a", root, twin])
        registry = work / "registry"
        address = script("registry.sh", "start", str(registry)).splitlines()[-1]
        try:
            slipway.must("pkg", "push", layout, "--to", f"oci://{address}/{REPOSITORY}")
            checks.that(True, "the package is in a real registry")
            spec = work / "host.yaml"
            write_spec(spec, f"{{repository: \"oci://{address}/{REPOSITORY}\", trust: unsigned}}", others=("cdi", *SERVICES))
            before = check_apply(checks, slipway, spec, root, twin)
        finally:
            script("registry.sh", "stop", str(registry))
        check_second_apply(checks, slipway, spec, root)
        status, out, err, _ = slipway("verify", "--deep", "--root", root, "--kernel", KERNEL, "-f", spec)
        checks.that(status == 0, "verify --deep passes on the image", out + err)
        if "--no-boot" not in sys.argv:
            check_guest(checks, twin, work)
        check_remove(checks, slipway, root, before)
        check_unknown_kernel(checks, slipway, layout, work)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
