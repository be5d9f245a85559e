#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/mig_boot.py - a booted machine whose GPUs lose their MIG layouts at a reboot, and get them back before its engines start.
"""mig, cdi and deviceplugin are applied to simulated H100, which come out of a reboot with MIG disabled. slipway-boot.service is the one
that the apply left, containerd is real, and kubelet the demonstration's stand-in. Needs root."""

import os
import pathlib
import subprocess
import sys
import tempfile

from cdi_podman import GPUS
from checks import Checks
from engine_machine import EngineMachine
from slipway_host import BUILD, VERSION, must
from units import KUBELET, PLUGINS, STATUS, add_program, log_of, unit, wait_for

SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: boot}
spec:
  hardware: assume
  components:
    mig: {config: all-balanced, driver_root: /driver}
    cdi: {driver_root: /driver}
    deviceplugin: {driver_root: /driver, quiet_seconds: 1, config: {version: v1, mig: {strategy: mixed}}}
"""
# Files of the driver that a kernel would show.
SIMULATE_UNIT = """[Unit]
DefaultDependencies=no
After=local-fs.target
Before=slipway-boot.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=mount --bind /tree/proc/driver /proc/driver
[Install]
WantedBy=sysinit.target
"""
ENGINES = ("containerd.service", "kubelet.service")
RESOURCES = {"nvidia.com/mig-1g.10gb": 2 * GPUS, "nvidia.com/mig-2g.20gb": GPUS, "nvidia.com/mig-3g.40gb": GPUS}


def prepare(machine):
    """Creates the driver's files as a kernel shows them, with the device nodes of all possible instances."""
    state = machine.root / "driver/run/slipway/sim"
    must([BUILD / "bin/slipway-sim", state, "tree", f"h100x{GPUS},driver={VERSION}", machine.root / "tree"])
    caps = machine.root / "driver/dev/nvidia-caps"
    caps.mkdir()
    for line in (machine.root / "tree/proc/driver/nvidia-caps/mig-minors").read_text().splitlines():
        name, minor = line.split()
        if name.partition("/")[0] in {f"gpu{i}" for i in range(GPUS)}:
            os.mknod(caps / f"nvidia-cap{minor}", 0o020444, os.makedev(509, int(minor)))
    add_program(machine, BUILD / "bin/demo-kubelet")
    must(["systemctl", f"--root={machine.root}", "enable", "simulate.service", *ENGINES])
    return state


def sim(state, *words):
    return must([BUILD / "bin/slipway-sim", state, *words])


def offered(machine):
    """Returns the stand-in kubelet's allocatable number by resource."""
    text = machine.run("cat", STATUS).stdout.partition("Allocatable:\n")[2]
    pairs = (line.strip().split(": ") for line in text.splitlines() if ": " in line)
    return {name: int(number) for name, number in pairs if int(number)}


def microseconds(machine, name, which):
    return int(machine.must("systemctl", "show", f"--property={which}TimestampMonotonic", "--value", name))


def check_layouts(checks, machine, state, before, when):
    checks.that(sim(state, "show") == before, f"{when}: the GPUs have the layout of the spec", sim(state, "show")[:1500])
    checks.that(machine.run("grep", "-c", "name: MIG-", "/run/cdi/nvidia.com-gpu.yaml").stdout.strip() == str(4 * GPUS),
                f"{when}: the CDI spec has the MIG devices", machine.run("cat", "/run/cdi/nvidia.com-gpu.yaml").stdout[:1500])
    checks.that(wait_for(lambda: offered(machine) == RESOURCES), f"{when}: kubelet has the MIG devices",
                f"{offered(machine)}\n{log_of(machine, 'deviceplugin')[-2000:]}")


def check_boot(checks, machine):
    shown = machine.must("systemctl", "show", "--property=ActiveState,Result", unit("boot"))
    checks.that("ActiveState=active\n" in shown and "Result=success\n" in shown, f"{unit('boot')} has ended well",
                shown + log_of(machine, "boot"))
    ended = microseconds(machine, unit("boot"), "ActiveEnter")
    for name in ENGINES:
        started = microseconds(machine, name, "ExecMainStart")
        checks.that(0 < ended <= started, f"{name} was started after it, by {(started - ended) / 1e6:.2f} s", f"{ended} {started}")
    said = log_of(machine, "boot")
    checks.that("mig: changed" in said and "MIG disabled -> " in " ".join(said.split()), "its log says what it has done", said)


def main():
    checks = Checks()
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e.", dir="/var/tmp"))
    try:
        files = {"/etc/slipway/host.yaml": SPEC, "/etc/systemd/system/simulate.service": SIMULATE_UNIT,
                 "/etc/systemd/system/kubelet.service": KUBELET + "[Install]\nWantedBy=multi-user.target\n", f"{PLUGINS}/.keep": ""}
        machine = EngineMachine(work, "bookworm", files)
        state = prepare(machine)
        with machine:
            done = machine.slipway("apply", "--yes", "-f", "/etc/slipway/host.yaml")
            checks.that(done.returncode == 0, "the components are applied", done.stdout + done.stderr)
            before = sim(state, "show")
            check_layouts(checks, machine, state, before, "after the apply")
        sim(state, "gpu", "all", "mig", "off")
        checks.that("gi " not in sim(state, "show"), "at the reboot the GPUs lose instances and mode")
        with machine:
            check_boot(checks, machine)
            check_layouts(checks, machine, state, before, "after the boot")
            done = machine.slipway("plan", "-f", "/etc/slipway/host.yaml")
            checks.that(done.returncode == 0, "nothing is left to do", done.stdout + done.stderr)
            sim(state, "forget-calls")
            machine.must("systemctl", "restart", unit("boot"))
            calls = sim(state, "calls")
            checks.that(sim(state, "show") == before and "InstanceDestroy" not in calls, "a second run leaves the instances alone", calls)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
