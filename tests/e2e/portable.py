#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/portable.py - the portable folder, built on bookworm, on an older distribution (bullseye, glibc 2.31) and a newer one.
"""Booted machines that have nothing of slipway's but the unpacked archive in /opt. The simulator stands where a driver's
libnvidia-ml.so.1 would and is found as that is, through the machine's linker cache. Live: plan, apply, services started by
systemd, verify, remove. Into an image: a driver, with the machine's own depmod and ldconfig. Needs root."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import Checks
from engine_machine import EngineMachine
from slipway_host import BUILD, KERNEL, TREE, must, script

GPUS = 4
LIBRARY = "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
LABELS = "/etc/kubernetes/node-feature-discovery/features.d/gfd"
HOST = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: portable}
spec:
  hardware: assume
  components:
    gfd: {}
    deviceplugin: {}
"""
IMAGE = """apiVersion: slipway.dev/v1
kind: Host
metadata: {name: image}
spec:
  hardware: assume
  components:
    driver: {version: "535.261.03", modules: open, source: {repository: "/srv/package", trust: unsigned}}
"""


class PortableMachine(EngineMachine):
    """A machine of a Debian suite with the archive unpacked in /opt."""

    def __init__(self, work, suite, archive, package):
        self._prepare(work, suite)
        must(["tar", "--extract", "--file", archive, "--directory", self.root / "opt"])
        shutil.copy(BUILD / "lib/slipway/sim/libnvidia-ml.so.1", self.root / LIBRARY)
        must(["chroot", self.root, "/sbin/ldconfig"])
        shutil.copytree(package, self.root / "srv/package", symlinks=True)
        (self.root / "srv/image/etc").mkdir(parents=True)
        (self.root / "etc/slipway").mkdir()
        (self.root / "etc/slipway/host.yaml").write_text(HOST)
        (self.root / "srv/image.yaml").write_text(IMAGE)

    def slipway(self, *words):
        return self.run("/opt/slipway/bin/slipway", *words)

    def slipway_until(self, *words):
        """Repeats `words` until it exits with 0, for a while: services report their state after their first check."""
        return self.run("timeout", "120", "sh", "-c", 'until said=$("$@" 2>&1); do sleep 1; done; echo "$said"', "sh",
                        "/opt/slipway/bin/slipway", *words)


def text_of(done):
    return f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


def processes(machine):
    """Returns for every process of slipway its mapped files and its loader variables."""
    names = machine.must("sh", "-c", "grep -lz '[/]opt/slipway/' /proc/[0-9]*/cmdline 2>/dev/null || true").split()
    seen = []
    for name in names:
        folder = name.rpartition("/")[0]
        maps = machine.run("sh", "-c", f"grep -o '/[^ ]*[.]so[^ ]*' {folder}/maps | sort -u").stdout.split()
        environment = machine.run("sh", "-c", f"tr '\\0' '\\n' < {folder}/environ | grep '^LD_'").stdout
        seen.append((machine.run("cat", name).stdout.replace("\0", " "), maps, environment))
    return seen


def check_live(checks, machine, suite):
    machine.must("/opt/slipway/bin/slipway-sim", "/run/slipway/sim", "make", f"h100x{GPUS}")
    done = machine.slipway("plan")
    checks.that(done.returncode == 2 and "slipway-gfd.service" in done.stdout, f"{suite}: plan shows what is to be done",
                text_of(done))
    done = machine.slipway("apply", "--yes")
    unit = machine.run("cat", "/etc/systemd/system/slipway-gfd.service").stdout
    checks.that("ExecStart=/opt/slipway/bin/slipway service gfd --boot" in unit, f"{suite}: units name the folder's slipway",
                unit + text_of(done))
    done = machine.slipway_until("verify")
    checks.that(done.returncode == 0 and f"{GPUS} GPUs are healthy" in done.stdout,
                f"{suite}: apply and verify; the services run, and NVML answers through dlopen", text_of(done)
                + machine.run("journalctl", "--no-pager", "-u", "slipway-*").stdout[-3000:])
    labels = machine.run("cat", LABELS).stdout
    checks.that(f"nvidia.com/gpu.count={GPUS}\n" in labels, f"{suite}: the labels are those of the machine's library", labels)
    running = processes(machine)
    mapped = {path for _, maps, _ in running for path in maps}
    strange = {path for path in mapped if not path.startswith("/opt/slipway/") and path != "/" + LIBRARY}
    checks.that("/" + LIBRARY in mapped and "/opt/slipway/lib/slipway/libraries/libc.so.6" in mapped and not strange,
                f"{suite}: they run on the folder's libraries, and NVML alone is the machine's", json.dumps(running, indent=1))
    checks.that(not any(environment for _, _, environment in running), f"{suite}: nothing of it is in an environment", running)
    done = machine.slipway("apply", "--yes")
    checks.that(done.returncode == 0 and "Nothing to do" in done.stdout, f"{suite}: a second apply has nothing to do",
                text_of(done))
    done = machine.slipway("remove", "--yes", "--all")
    left = machine.run("sh", "-c", "ls /etc/systemd/system | grep slipway; ls -d /var/lib/slipway").stdout
    checks.that(done.returncode == 0 and not left and not processes(machine), f"{suite}: remove leaves nothing", text_of(done)
                + left)


def check_image(checks, machine, suite):
    on_image = ("--root", "/srv/image", "--kernel", KERNEL)
    done = machine.slipway("apply", "--yes", "--without-slipway", "-f", "/srv/image.yaml", *on_image)
    listed = machine.run("ldconfig", "-r", "/srv/image", "-p").stdout
    modules = machine.run("cat", f"/srv/image/lib/modules/{KERNEL}/modules.dep").stdout
    checks.that(done.returncode == 0 and "nvidia.ko" in modules and "ld.so.cache" in machine.must("ls", "/srv/image/etc"),
                f"{suite}: a driver goes into an image; the machine's depmod and ldconfig run with its own libraries",
                text_of(done) + modules + listed)
    done = machine.slipway("verify", "-f", "/srv/image.yaml", *on_image)
    checks.that(done.returncode == 0, f"{suite}: and is verified there", text_of(done))
    done = machine.slipway("remove", "--yes", "--all", *on_image)
    left = machine.run("find", "/srv/image", "-mindepth", "1", "-not", "-path", "/srv/image/etc").stdout
    checks.that(done.returncode == 0 and not left, f"{suite}: and removed", text_of(done) + left)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        work = pathlib.Path(name)
        must([TREE / "deploy/portable/make-folder", "--tar", BUILD, work / "slipway"])
        package = work / "package"
        subprocess.run([TREE / "examples/demo/make-package", "--slipway", BUILD / "bin/slipway", "--version", "535.261.03",
                        "--kernel", KERNEL, package], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for suite in ("bullseye", "trixie"):
            with PortableMachine(work, suite, work / "slipway.tar.gz", package) as machine:
                checks.that(True, f"{suite} runs, with {machine.must('ldd', '--version').splitlines()[0]}")
                check_live(checks, machine, suite)
                check_image(checks, machine, suite)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
