#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/e2e/kernel_faults.py - kernels that apt installs into a booted machine while slipway cannot do its work: the hook
# returns in time, apt ends well, and the unit goes on or says why it cannot.
"""A machine of Debian bookworm, booted by systemd-nspawn, so that apt, dpkg's hooks and systemd are real; the kernel that runs is
this machine's. The driver is the demonstration package in a real registry. Faults: a registry that accepts connections and never
answers, one that is gone, a full disk, another slipway at work, and a compiler that hangs. Needs root."""

import contextlib
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import time

from checks import Checks, wait_for
from engine_machine import EngineMachine
from kernel_update import fetch_kernel, in_root, make_package, newer_kernels
from loop_disk import Mounted
from slipway_host import KERNEL, TRAP_KERNEL, VERSION, Slipway, install_into, must, root_with_headers, script, write_spec
from standin import make_package as make_standin

HOOK_LIMIT = 65.0  # seconds
UNIT_LIMIT = 1200
# Beside slipway's hook "00-slipway" in the order of run-parts.
STAMPS = {"00-before": "before", "00-t-after": "after"}


class Registry:
    """A real registry that can stop, and whose port can accept connections without an answer."""

    def __init__(self, folder):
        self._folder = folder
        self._silent = None
        self.address = script("registry.sh", "start", str(folder)).splitlines()[-1]

    def stop(self):
        script("registry.sh", "stop", str(self._folder))

    def start(self):
        """Starts it at its former address: the clients' spec names that."""
        config = self._folder / "config.yml"
        config.write_text(config.read_text().replace("127.0.0.1:0", self.address))
        address = must(["bash", "-c", 'docker-registry serve "$1" >"$2" 2>&1 </dev/null & echo $! >"$3"', "sh", config,
                        self._folder / "log2", self._folder / "pid"])
        host, port = self.address.split(":")

        def listens():
            with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=5):
                return True
            return False

        if not wait_for(listens, 30):
            raise RuntimeError("the registry did not start again " + address)

    @contextlib.contextmanager
    def gone(self):
        self.stop()
        try:
            yield
        finally:
            self.start()

    @contextlib.contextmanager
    def silent(self):
        self.stop()
        host, port = self.address.split(":")
        listener = socket.create_server((host, int(port)), backlog=64)
        try:
            yield
        finally:
            listener.close()
            self.start()


class Machine(EngineMachine):
    """Boots a root that exists."""

    def __init__(self, work, root):
        self._prepare(work, "kernels", lambda _: None)
        self.root = root

    def install(self, deb):
        """Returns apt's result, and the seconds that slipway's hook took."""
        shutil.copy(deb, self.root / "var/tmp")
        done = self.run("env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", "install", "-y",
                        "--no-install-recommends", f"/var/tmp/{deb.name}")
        (self.root / "var/tmp" / deb.name).unlink()
        times = [float((self.root / "run-stamps" / name).read_text()) for name in ("before", "after")]
        return done, times[1] - times[0]

    def purge(self, release):
        return self.run("env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", "purge", "-y", f"linux-image-{release}")

    def unit(self, release):
        shown = self.must("systemctl", "show", f"slipway-kernel@{release}.service", "--property=ActiveState,Result")
        return dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)

    def unit_ends(self, release):
        return wait_for(lambda: self.unit(release)["ActiveState"] in ("inactive", "failed"), UNIT_LIMIT)

    def log(self, release):
        return self.run("journalctl", "--boot", "--output=cat", "--unit", f"slipway-kernel@{release}.service").stdout

    def has_modules(self, release):
        return self.run("test", "-f", f"/usr/lib/modules/{release}/updates/slipway/nvidia.ko").returncode == 0


def prepare_root(root, source):
    """Puts slipway with the driver from that source into a root."""
    install_into(root)
    spec = root / "etc/slipway/host.yaml"
    spec.parent.mkdir(parents=True, exist_ok=True)
    write_spec(spec, f'{{repository: "{source}", trust: unsigned}}', hardware="assume")
    (root / "etc/dpkg/dpkg.cfg.d/unsafe-io").write_text("force-unsafe-io\n", encoding="utf-8")
    # No initrd is looked at here, and making one takes longer than everything else.
    (root / "etc/initramfs-tools/update-initramfs.conf").write_text("update_initramfs=no\nbackup_initramfs=no\n", encoding="utf-8")
    (root / "run-stamps").mkdir()
    for hook, name in STAMPS.items():
        path = root / "etc/kernel/postinst.d" / hook
        path.write_text(f"#!/bin/sh\ndate +%s.%N >/run-stamps/{name}\n", encoding="utf-8")
        path.chmod(0o755)
    must(["mount", "-t", "proc", "proc", root / "proc"])
    try:
        return in_root(root, "slipway", "apply", "--image", "--yes", "--kernel", KERNEL, check=False)
    finally:
        must(["umount", root / "proc"])


def check_fault(checks, machine, deb, release, fault, what, reason=""):
    """Installs the kernel under the fault; `reason` is what slipway says of it when the modules have to wait."""
    with fault:
        done, seconds = machine.install(deb)
        said = done.stdout + done.stderr
        checks.that(done.returncode == 0, f"{what}: apt ends well", said)
        checks.that(seconds <= HOOK_LIMIT, f"{what}: the hook returns in time ({seconds:.1f} s)", said)
        told = re.findall(r"^slipway: .*", said, re.MULTILINE)
        checks.that(told, f"{what}: the output of apt has a word of slipway: {told[:1]}", said)
    checks.that(machine.unit_ends(release), f"{what}: the unit ends", machine.unit(release))
    if not machine.has_modules(release):
        log = machine.log(release)
        checks.that(re.search(reason or "^$", said + log), f"{what}: the hook or the unit says why it could not", said + log)
        checks.that(machine.run("systemctl", "is-active", "slipway-kernel-scan.timer").stdout.strip() == "active",
                    f"{what}: the timer that tries it again runs")
        status = machine.slipway("status")
        checks.that(release in status.stdout, f"{what}: status names the kernel without modules", status.stdout + status.stderr)
        done = machine.slipway("kernel", "installed", release)
        checks.that(done.returncode == 0, f"{what}: once it is over, the command that it names helps", done.stdout + done.stderr)
    checks.that(machine.has_modules(release), f"{what}: the kernel has its modules in the end", machine.log(release))
    done = machine.purge(release)
    checks.that(done.returncode == 0 and not machine.has_modules(release), f"{what}: apt removes the kernel", done.stdout + done.stderr)


@contextlib.contextmanager
def full_disk(machine):
    """Fills the disk for slipway's hook: dpkg itself would fail on it."""
    hooks = {"00-c-fill": "fallocate -l $(($(df --output=avail -B1 / | tail -n 1))) /var/tmp/fill || dd if=/dev/zero of=/var/tmp/fill "
                          "bs=1M 2>/dev/null || true", "00-t-free": "rm -f /var/tmp/fill"}
    folder = machine.root / "etc/kernel/postinst.d"
    for name, text in hooks.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    try:
        yield
    finally:
        for name in hooks:
            (folder / name).unlink()


@contextlib.contextmanager
def other_slipway(machine):
    """Holds the lock of the root, as another slipway at work does."""
    machine.must("systemd-run", "--unit=other-slipway", "flock", "/var/lib/slipway", "sleep", "1000")
    try:
        yield
    finally:
        machine.must("systemctl", "stop", "other-slipway")


@contextlib.contextmanager
def hanging_compiler(root):
    """Puts a compiler that waits in the place of gcc-12, as long as a file exists."""
    compiler, real, hang = (root / "usr/bin" / name for name in ("x86_64-linux-gnu-gcc-12", "gcc-12.real", "gcc-hangs"))
    compiler.rename(real)
    compiler.write_text('#!/bin/sh\nwhile [ -e /usr/bin/gcc-hangs ]; do sleep 1; done\nexec /usr/bin/gcc-12.real "$@"\n', encoding="utf-8")
    compiler.chmod(0o755)
    hang.touch()
    try:
        yield
    finally:
        hang.unlink()


def check_compiler(checks, work):
    """A package with the modules' source alone: the stand-in's, which compiles in a moment."""
    root = root_with_headers(work / "compiling", TRAP_KERNEL)
    make_standin(Slipway(work / "cache"), root / "opt/package", VERSION, source=True)
    done = prepare_root(root, "/opt/package")
    checks.that(done.returncode == 0, "slipway compiles the driver in another image", done.stdout + done.stderr)
    deb = fetch_kernel(work, TRAP_KERNEL)
    with Machine(work, root) as machine:
        check_fault(checks, machine, deb, TRAP_KERNEL, contextlib.nullcontext(), "a compiler, no fault")
        check_fault(checks, machine, deb, TRAP_KERNEL, hanging_compiler(root), "a compiler that hangs")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="slipway-e2e.") as folder, contextlib.ExitStack() as stack:
        work = pathlib.Path(folder)
        release = newer_kernels()[0]
        layout = make_package(work, [KERNEL, release])
        deb = fetch_kernel(work, release)
        registry = Registry(work / "registry")
        stack.callback(registry.stop)
        Slipway(work / "cache").must("pkg", "push", layout, "--to", f"oci://{registry.address}/driver")
        must(["truncate", "--size=6G", work / "disk"])
        must(["mkfs.ext4", "-q", work / "disk"])
        root = stack.enter_context(Mounted(work / "disk", work / "root"))
        (root / "lost+found").rmdir()
        script("make-root.sh", "--with-libraries", str(root))
        done = prepare_root(root, f"oci://{registry.address}/driver")
        checks.that(done.returncode == 0, "slipway applies the driver in the image", done.stdout + done.stderr)
        with Machine(work, root) as machine:
            check_fault(checks, machine, deb, release, contextlib.nullcontext(), "no fault")
            check_fault(checks, machine, deb, release, registry.silent(), "a registry that never answers",
                        "did not answer|no answer|timed out|time limit")
            check_fault(checks, machine, deb, release, registry.gone(), "a registry that is gone", "connect|refused")
            check_fault(checks, machine, deb, release, full_disk(machine), "a full disk", "No space left|is full")
            check_fault(checks, machine, deb, release, other_slipway(machine), "another slipway at work")
        check_compiler(checks, work)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
