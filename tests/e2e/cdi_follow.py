#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/cdi_follow.py - CDI specs are kept up to date on a booted machine: its units, a lost GPU, MIG, a storm.
"""cdi and deviceplugin of simulated GPUs, each under the unit that an apply writes. udev is missing in such a machine: its rule is
the matter of cdi_udev.py. Needs root."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

from checks import Checks, wait_for
from engine_machine import EngineMachine
from slipway_host import BUILD

REQUEST = "/run/slipway/cdi-refresh"
SPEC_FILE = "/run/cdi/nvidia.com-gpu.json"
SERVICE, PATH = "slipway-cdi-refresh.service", "slipway-cdi-refresh.path"
RULE = "/etc/udev/rules.d/73-slipway-cdi-refresh.rules"
SPEC = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: follow}
spec:
  hardware: assume
  components:
    cdi: {driver_root: /driver, format: json}
    deviceplugin: {driver_root: /driver, quiet_seconds: 1}
"""
ALONE = "".join(line for line in SPEC.splitlines(True) if "deviceplugin" not in line)


def log_of(machine):
    return machine.run("journalctl", "--boot", "--output=short-precise", "--unit", SERVICE).stdout[-3000:]


def names(machine):
    """Returns the UUIDs of the spec's devices; empty while there is none."""
    done = machine.run("cat", SPEC_FILE)
    try:
        return {device["name"] for device in json.loads(done.stdout)["devices"]}
    except ValueError:
        return set()


def sim(machine, *words):
    for state in ("/driver/run/slipway/sim",):
        machine.must("/usr/local/bin/slipway-sim", state, *words)


def runs(machine):
    return machine.must("journalctl", "--boot", "--output=cat", "--unit", SERVICE).count("Starting ")


def idle(machine):
    return (machine.run("systemctl", "is-active", SERVICE).stdout.strip() in ("inactive", "failed")
            and machine.run("test", "-e", REQUEST).returncode != 0)


def check_no_driver(checks, machine):
    """A live machine without a driver gets the units that wait for one."""
    sim(machine, "driver", "unloaded")
    machine.must("mv", "/driver/dev/nvidiactl", "/driver/nvidiactl")
    done = machine.slipway("apply", "--yes", "-f", "/etc/slipway/alone.yaml")
    told = machine.slipway("verify").stdout
    checks.that(done.returncode == 0 and "no NVIDIA driver runs on this machine" in told and not names(machine),
                "without a driver an apply writes no spec, and verify says why", done.stdout + done.stderr + told)
    checks.that(machine.run("systemctl", "is-active", PATH).stdout.strip() == "active" and
                machine.run("test", "-e", RULE).returncode == 0, "but what waits for a driver is there")
    machine.must("mv", "/driver/nvidiactl", "/driver/dev/nvidiactl")
    sim(machine, "driver", "loaded")
    machine.must("sh", "-c", f"mkdir -p /run/slipway; touch {REQUEST}")  # like the udev rule
    checks.that(wait_for(lambda: "3" in names(machine)), "and once there is one, the spec is written", log_of(machine))
    wait_for(lambda: idle(machine))


def check_apply(checks, machine):
    done = machine.slipway("apply", "--yes", "-f", "/etc/slipway/host.yaml")
    checks.that(done.returncode == 0 and "3" in names(machine), "the components are applied", done.stdout + done.stderr)
    checks.that(machine.run("systemctl", "is-active", PATH).stdout.strip() == "active", f"{PATH} waits")
    told = machine.run("systemd-analyze", "verify", "--man=no", SERVICE, PATH)
    checks.that(told.returncode == 0 and not told.stderr, "systemd has nothing against the units", told.stderr)
    checks.that(machine.slipway("plan", "-f", "/etc/slipway/host.yaml").returncode == 0, "and nothing is left to do")


def check_request(checks, machine):
    """Requests a refresh with a file."""
    before = machine.must("stat", "--format=%i %Y %Z", SPEC_FILE)
    machine.must("touch", REQUEST)
    checks.that(wait_for(lambda: runs(machine) > 0 and idle(machine)), "a request is taken", log_of(machine))
    checks.that(machine.must("stat", "--format=%i %Y %Z", SPEC_FILE) == before, "the spec's file stays while its bytes would",
                log_of(machine))
    machine.must("systemctl", "stop", "slipway-deviceplugin.service")
    sim(machine, "gpu", "3", "lost")
    machine.must("touch", REQUEST)
    begin = time.monotonic()
    checks.that(wait_for(lambda: names(machine) and "3" not in names(machine)), "a lost GPU leaves the spec", log_of(machine))
    checks.that("7" in names(machine), f"and the others stay ({time.monotonic() - begin:.1f} s)", names(machine))
    told = machine.slipway("verify").stdout
    checks.that("cdi.lost: GPU 3" in told, "verify names it", told)
    sim(machine, "gpu", "3", "found")
    machine.must("touch", REQUEST)
    checks.that(wait_for(lambda: "3" in names(machine)), "one that is found comes back", log_of(machine))


def check_services_watch(checks, machine):
    machine.must("systemctl", "start", "slipway-deviceplugin.service")
    for words, holds, sentence in (
            (("gpu", "5", "lost"), lambda: names(machine) and "5" not in names(machine), "the device plugin's watch asks when a GPU is lost"),
            (("gpu", "5", "found"), lambda: "5" in names(machine), "and when it is found")):
        time.sleep(3)  # the watch needs an earlier look to compare with
        sim(machine, *words)
        begin = time.monotonic()
        checks.that(wait_for(holds), f"{sentence} ({time.monotonic() - begin:.1f} s)",
                    log_of(machine) + machine.run("journalctl", "--boot", "--unit", "slipway-deviceplugin.service").stdout[-1500:])


def check_storm(checks, machine):
    wait_for(lambda: idle(machine))
    before = runs(machine)
    begin = time.monotonic()
    machine.must("sh", "-c", f"for i in $(seq 400); do : >{REQUEST}; sleep 0.02; done")
    checks.that(wait_for(lambda: idle(machine)), "a storm of requests ends", log_of(machine))
    seconds = time.monotonic() - begin
    count = runs(machine) - before
    checks.that(0 < count <= 2 * seconds + 2, f"400 requests were {count} runs in {seconds:.0f} s")
    checks.that(machine.run("systemctl", "is-active", PATH).stdout.strip() == "active", "and the unit still waits")
    sim(machine, "gpu", "1", "lost")
    machine.must("touch", REQUEST)
    checks.that(wait_for(lambda: names(machine) and "1" not in names(machine)), "for what comes next", log_of(machine))
    sim(machine, "gpu", "1", "found")
    machine.must("touch", REQUEST)
    wait_for(lambda: "1" in names(machine) and idle(machine))


def check_killed(checks, machine):
    """SIGKILL at any moment, and an apply by hand at the same time: the next run writes the right spec."""
    wait_for(lambda: idle(machine))
    for i in range(6):
        sim(machine, "gpu", "6", "lost" if i % 2 == 0 else "found")
        machine.must("touch", REQUEST)
        wait_for(lambda: not idle(machine), 5)
        machine.must("sh", "-c", f"sleep 0.{i}; systemctl kill --signal=KILL --kill-who=all {SERVICE} 2>/dev/null; true")
    checks.that(wait_for(lambda: "6" in names(machine) and idle(machine)), "runs that are killed leave it to the next one", log_of(machine))
    sim(machine, "gpu", "6", "lost")
    machine.must("touch", REQUEST)
    done = machine.slipway("apply", "--yes", "-f", "/etc/slipway/host.yaml")
    sim(machine, "gpu", "6", "found")
    machine.must("touch", REQUEST)
    checks.that(wait_for(lambda: "6" in names(machine) and idle(machine)), "an apply at the same time delays it and no more",
                done.stdout + done.stderr + log_of(machine))
    left = machine.run("sh", "-c", "ls -a /run/cdi").stdout.split()
    checks.that(set(left) == {".", "..", pathlib.Path(SPEC_FILE).name}, "and nothing half is left beside the spec", left)


def check_hostile_files(checks, machine):
    """Obstacles in place of the spec: half a file, a link, a request that is a link."""
    machine.must("sh", "-c", f"echo '{{\"cdiVersion\": \"0.5' >{SPEC_FILE}; touch {REQUEST}")
    checks.that(wait_for(lambda: "3" in names(machine)), "half a spec is written anew", log_of(machine))
    machine.must("sh", "-c", f"echo precious >/etc/precious; rm {SPEC_FILE}; ln -s /etc/precious {SPEC_FILE}; touch {REQUEST}")
    wait_for(lambda: idle(machine))
    time.sleep(1)
    wait_for(lambda: idle(machine))
    checks.that(machine.must("cat", "/etc/precious") == "precious\n", "a link in the spec's place is not written through",
                log_of(machine))
    machine.must("rm", "-f", SPEC_FILE)
    machine.must("sh", "-c", f"mkdir {REQUEST}")
    checks.that(wait_for(lambda: "3" in names(machine) and idle(machine)), "a folder in the place of the request is taken away",
                log_of(machine))
    machine.must("rm", "-f", SPEC_FILE)
    machine.must("sh", "-c", f"ln -sf /etc/precious {REQUEST}")
    checks.that(wait_for(lambda: "3" in names(machine)), "nor is one in the request's", log_of(machine))
    checks.that(machine.must("cat", "/etc/precious") == "precious\n", "which is taken away", log_of(machine))
    wait_for(lambda: idle(machine))


def check_failure(checks, machine):
    """Without a driver the former spec stays; there are a few tries, and the refresh goes on."""
    wait_for(lambda: idle(machine))
    sim(machine, "driver", "unloaded")
    before, spec = runs(machine), machine.must("cat", SPEC_FILE)
    machine.must("touch", REQUEST)
    checks.that(wait_for(lambda: runs(machine) > before + 5 and idle(machine), 120), "without a driver it is tried a few times",
                log_of(machine))
    count = runs(machine) - before
    checks.that(count <= 12 and machine.must("cat", SPEC_FILE) == spec, f"which ends ({count} runs), and the former spec stays",
                log_of(machine))
    machine.must("rm", SPEC_FILE)
    sim(machine, "driver", "loaded")
    machine.must("touch", REQUEST)
    checks.that(wait_for(lambda: "3" in names(machine)), "with the driver the spec appears", log_of(machine))


def check_removal(checks, machine):
    wait_for(lambda: idle(machine))
    done = machine.slipway("remove", "--all", "--yes")
    checks.that(done.returncode == 0, "everything is removed", done.stdout + done.stderr)
    left = machine.run("sh", "-c", f"ls {RULE} /etc/systemd/system/slipway-cdi* /etc/systemd/system/*.wants/slipway-cdi* {SPEC_FILE}").stdout
    checks.that(not left, "no unit, rule or spec is left", left)
    checks.that(machine.run("systemctl", "is-active", PATH).stdout.strip() == "inactive", "and nothing waits")


def main():
    checks = Checks()
    if "--no-boot" in sys.argv:
        print("left out: it boots a machine")
        return 0
    work = pathlib.Path(tempfile.mkdtemp(prefix="slipway-e2e.", dir="/var/tmp"))
    try:
        machine = EngineMachine(work, "bookworm", {"/etc/slipway/host.yaml": SPEC, "/etc/slipway/alone.yaml": ALONE})
        subprocess.run(["cp", BUILD / "bin/slipway-sim", machine.root / "usr/local/bin/slipway-sim"], check=True)
        with machine:
            check_no_driver(checks, machine)
            check_apply(checks, machine)
            check_request(checks, machine)
            check_services_watch(checks, machine)
            check_storm(checks, machine)
            check_killed(checks, machine)
            check_hostile_files(checks, machine)
            check_failure(checks, machine)
            check_removal(checks, machine)
        return checks.close()
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)


if __name__ == "__main__":
    sys.exit(main())
