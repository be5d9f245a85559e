#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/cdi_udev.py - a machine that boots without a driver: the driver is loaded later, and udev starts the writing of CDI specs.
"""A real kernel, systemd and udev in a guest. nvidia.ko is the stand-in of standin/; the user space is Debian's, with the simulator in
the place of NVML, which is told of the driver as the module comes and goes."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from cdi_podman import make_driver_root
from checks import Checks
from guest import Vm, make_image
from slipway_host import BUILD, KERNEL, VERSION, install_into, must, root_with_headers
from standin import make_modules

OTHER = "550.163.01"
MODULES = "/opt/modules"
REQUEST = "/run/slipway/cdi-refresh"
SPEC_FILE = "/run/cdi/nvidia.com-gpu.yaml"
SERVICE = "slipway-cdi-refresh.service"
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: udev}
spec:
  hardware: assume
  components:
    cdi: {driver_root: /driver}
"""
SIM = "/usr/local/bin/slipway-sim /driver/run/slipway/sim"
LOG = f"journalctl --boot --no-pager -o short-precise -u {SERVICE} | tail -25; systemctl status --no-pager slipway-cdi-refresh.path | tail -5"


def make_root(root, work):
    root_with_headers(root, KERNEL)
    install_into(root)
    (root / "driver").mkdir()
    make_driver_root(root / "driver")
    for version in (VERSION, OTHER):
        make_modules(root / MODULES.lstrip("/") / version, version, KERNEL, root)
    shutil.copy(BUILD / "bin/slipway-sim", root / "usr/local/bin/slipway-sim")
    must([BUILD / "bin/slipway-sim", root / "driver/run/slipway/sim", "driver", "unloaded"])
    folder = root / "etc/systemd/system/slipway-.service.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "simulator.conf").write_text("[Service]\nReadWritePaths=-/driver\n")
    (work / "host.yaml").write_text(SPEC)
    done = subprocess.run([BUILD / "bin/slipway", "apply", "--yes", "--root", root, "-f", work / "host.yaml", "--kernel", KERNEL,
                           "--cache", work / "cache"], text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def wait_for(vm, test, limit=60):
    """Returns the seconds until the shell's test succeeds, by the guest's clock; None: it never did."""
    done = vm.run(f"i=0; while [ $i -lt {limit * 10} ]; do if {test}; then echo $i; exit 0; fi; sleep 0.1; i=$((i+1)); done; exit 1",
                  limit * 4)
    return int(done.stdout) / 10 if done.status == 0 else None


def seen(vm):
    return vm.run(LOG).stdout[-3500:]


def check_boot(checks, vm):
    checks.that(vm.run(f"test -e {SPEC_FILE}").status != 0, "a machine without a driver has no spec")
    checks.that(vm.run("systemctl is-active slipway-cdi-refresh.path").stdout.strip() == "active", "and what waits for one", seen(vm))


def check_load(checks, vm):
    vm.check(f"{SIM} driver loaded; insmod {MODULES}/{VERSION}/nvidia.ko", 300)
    took = wait_for(vm, f"test -s {SPEC_FILE}")
    checks.that(took is not None, f"somebody loads the driver, and the spec appears ({took} s)", seen(vm))
    text = vm.run(f"cat {SPEC_FILE}").stdout
    checks.that("name: all" in text and "/dev/nvidia7" in text, "with all GPUs", text[-500:])
    check_users(checks, vm)


def check_users(checks, vm):
    """Keeps a node of the driver open in one process meanwhile."""
    vm.check("sleep infinity </driver/dev/nvidia0 >/dev/null 2>&1 & echo $! >/run/user-of-nvidia")
    held = wait_for(vm, 'test "$(cat /sys/module/nvidia/refcnt)" -ge 1')
    refused = vm.run("rmmod nvidia")
    checks.that(held is not None and refused.status != 0 and "in use" in refused.stderr,
                "the stand-in counts its users, and is not unloaded under one", f"held: {held}\n{refused.stdout}{refused.stderr}")
    vm.run("kill $(cat /run/user-of-nvidia)")
    checks.that(wait_for(vm, 'test "$(cat /sys/module/nvidia/refcnt)" = 0') is not None, "and the user's end is seen")


def check_replaced(checks, vm):
    """Loads a module of another version than the user space: the specs stay as they were, and the log says why."""
    before = vm.check(f"sha256sum {SPEC_FILE}")
    vm.check(f"rmmod nvidia; insmod {MODULES}/{OTHER}/nvidia.ko", 300)
    took = wait_for(vm, f"journalctl --boot --no-pager -u {SERVICE} | grep -q 'half upgraded'")
    checks.that(took is not None, f"another version is loaded, and the refresh says that its user space is missing ({took} s)", seen(vm))
    checks.that(vm.check(f"sha256sum {SPEC_FILE}") == before, "the spec stays")
    vm.check("rmmod nvidia")
    failed = vm.run(f"insmod {MODULES}/{VERSION}/nvidia.ko fail=1", 300)
    checks.that(failed.status != 0, "a module that is asked to fail fails", failed.stderr)
    vm.check(f"rm {SPEC_FILE}; insmod {MODULES}/{VERSION}/nvidia.ko", 300)
    took = wait_for(vm, f"test -s {SPEC_FILE}")
    checks.that(took is not None, f"and with the right one the spec is back ({took} s)", seen(vm))


def runs(vm):
    return int(vm.run(f"journalctl --boot --no-pager -o cat -u {SERVICE} | grep -c Starting").stdout)


def wait_until_idle(vm):
    return wait_for(vm, f"! test -e {REQUEST} && ! systemctl is-active --quiet {SERVICE} && "
                        f"! systemctl show -p ActiveState {SERVICE} | grep -q activating", 300)


def uptime(vm):
    return float(vm.check("cat /proc/uptime").split()[0])


def check_storm(checks, vm):
    """Sends events of the module, as fast as root can; ordinary users cannot send any."""
    vm.check("udevadm settle", 300)
    wait_until_idle(vm)
    before, begin = runs(vm), uptime(vm)
    vm.check("for i in $(seq 300); do echo add >/sys/module/nvidia/uevent; done; udevadm settle --timeout=600", 900)
    checks.that(wait_until_idle(vm) is not None, "a storm of events ends", seen(vm))
    count, seconds = runs(vm) - before, uptime(vm) - begin
    checks.that(0 < count <= 2 * seconds + 2, f"300 events of udev were {count} runs in {seconds:.0f} s", seen(vm))
    checks.that(vm.run("systemctl is-active slipway-cdi-refresh.path").stdout.strip() == "active", "and it still waits", seen(vm))
    for words in ("echo add >/sys/module/nvidia/uevent", f"echo >{REQUEST}", "mkdir /dev/nvidia-caps", "touch /dev/nvidia-caps/x",
                  "ln -s /etc/shadow /run/cdi/a.yaml", "mkdir -p /run/nvidia/driver/x", f"systemctl --no-ask-password start {SERVICE}"):
        user = vm.run(f"setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '{words}'")
        checks.that(user.status != 0, f"an ordinary user cannot `{words}`", user.stdout)


def main():
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="slipway-e2e.", dir="/var/tmp") as name:
        work = pathlib.Path(name)
        status, text = make_root(work / "root", work)
        checks.that(status == 0, "an image gets the units", text)
        make_image(str(work / "root"), str(work / "disk.img"))
        with Vm(str(work / "disk.img"), work=str(work / "vm"), boot_timeout=900) as vm:
            vm.wait_until_started(900)
            check_boot(checks, vm)
            check_load(checks, vm)
            check_replaced(checks, vm)
            check_storm(checks, vm)
            vm.power_off()
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
