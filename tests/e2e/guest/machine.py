# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest/machine.py - one virtual machine: boot, commands, reboot, power-off, power cut.

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from guest.accel import QEMU, accel, accel_options
from guest.channel import Channel, ChannelError
from guest.image import boot_files

# mitigations=off: an emulated CPU has nothing to protect, and booting is a tenth faster.
KERNEL_OPTIONS = "root=/dev/vda rw console=ttyS0 panic=-1 mitigations=off"

# Timers of the distribution would change files at some hours (dpkg's copies of its lists at midnight, the cleaning of
# /tmp a quarter of an hour after boot), and a test compares all files before and after.
TIMERS = ("dpkg-db-backup", "apt-daily", "apt-daily-upgrade", "systemd-tmpfiles-clean", "e2scrub_all", "fstrim",
          "logrotate", "man-db")


class GuestError(Exception):
    """The machine did not do what it was told; the message ends with the last lines of its console."""


class Vm:
    """A machine that boots `image` (an ext4 file with a root filesystem, written to).

    Every boot copies kernel and initrd out of the image, like a boot loader, so a new initrd is used from the next
    boot on. `disks` are further raw images (/dev/vdb, ...), read-only. The console of all boots goes to one log.
    """

    def __init__(self, image, *, release=None, memory_mib=2048, cpus=2, options="", disks=(), work=None,
                 boot_timeout=600):
        self._image = str(image)
        self._release = release
        self._memory_mib, self._cpus = memory_mib, cpus
        self._options, self._disks = options, [str(disk) for disk in disks]
        self._own_work = work is None
        self._work = pathlib.Path(work or tempfile.mkdtemp(prefix="slipway-vm."))
        self._boot_timeout = boot_timeout
        self._process = self._channel = None
        self.boot_id = None
        self.boot_seconds = []

    def __enter__(self):
        self._work.mkdir(parents=True, exist_ok=True)
        (self._work / "console.log").unlink(missing_ok=True)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.cut_power()
        if self._own_work:
            shutil.rmtree(self._work, ignore_errors=True)

    @property
    def running(self):
        return self._process is not None and self._process.poll() is None

    def console(self):
        """Everything the machine printed on its console, over all boots."""
        path = self._work / "console.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _fail(self, why):
        tail = "\n".join(self.console().splitlines()[-30:])
        return GuestError(f"{why}\n--- end of the console ---\n{tail}")

    def _command(self, kernel, initrd):
        masks = " ".join(f"systemd.mask={timer}.timer" for timer in TIMERS)
        line = f"{KERNEL_OPTIONS} {masks} {self._options}".strip()
        command = [QEMU, *accel_options(accel()), "-machine", "q35", "-nodefaults", "-display", "none", "-no-reboot",
                   "-smp", str(self._cpus), "-m", str(self._memory_mib), "-device", "virtio-rng-pci",
                   "-kernel", kernel, "-initrd", initrd, "-append", line]
        for name, backend in (("console", f"file,path={self._work}/console.log,append=on"),
                              ("agent", f"socket,path={self._work}/agent,server=on,wait=off")):
            command += ["-chardev", f"{backend},id={name}", "-serial", f"chardev:{name}"]
        # After qemu is killed, the guest's writes are still in the host's memory, so the host need not sync them.
        for disk in [self._image, *self._disks]:
            readonly = "on" if disk != self._image else "off"
            command += ["-drive", f"file={disk},format=raw,if=virtio,cache=unsafe,readonly={readonly}"]
        return command

    def start(self):
        """Switches the machine on and waits until the agent answers."""
        if self.running:
            raise GuestError("the machine is running already")
        started = time.monotonic()
        kernel, initrd = boot_files(self._image, str(self._work), self._release)
        (self._work / "agent").unlink(missing_ok=True)
        command = self._command(kernel, initrd)
        with open(self._work / "qemu.log", "ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._channel = Channel(f"{self._work}/agent", lambda: self.running)
            self.boot_id = self._channel.wait_ready(self._boot_timeout)
        except ChannelError as error:
            self.cut_power()
            qemu = (self._work / "qemu.log").read_text(errors="replace")
            raise self._fail(f"the machine did not boot: {error}\n{qemu}") from error
        self.boot_seconds.append(time.monotonic() - started)

    def run(self, command, timeout=120):
        """Runs a shell command as root; returns a Completed. Raises when the guest is gone or hangs."""
        if not self.running:
            raise self._fail(f"the machine is off; it cannot run `{command}`")
        try:
            return self._channel.run(command, timeout)
        except (ChannelError, OSError) as error:
            raise self._fail(f"`{command}`: {error}") from error

    def check(self, command, timeout=120):
        """Like run(), but a status other than 0 raises; returns the standard output."""
        return self.run(command, timeout).check().stdout

    def wait_until_started(self, timeout=300):
        """Waits for the end of the boot; returns systemd's word for it: running, degraded, ..."""
        return self.run("systemctl is-system-running --wait", timeout).stdout.strip()

    def wait_until_off(self, timeout=120):
        """Waits until the machine is off; the guest must have been told to go down."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise self._fail(f"the machine did not go down within {timeout} s") from None
        self._release_channel()

    def _go_down(self, verb, timeout):
        # Does not wait for an answer: systemd may end the agent before it has sent one.
        self._channel.send(f"systemctl --no-block {verb}", timeout)
        self.wait_until_off(timeout)

    def _release_channel(self):
        if self._channel:
            self._channel.close()
            self._channel = None

    def power_off(self, timeout=120):
        """Shuts the guest down normally."""
        self._go_down("poweroff", timeout)

    def reboot(self, timeout=120):
        """Shuts the guest down normally and boots it again; raises unless it is another boot."""
        before = self.boot_id
        self._go_down("reboot", timeout)
        self.start()
        if self.boot_id == before:
            raise self._fail("the machine says that it is still the same boot")

    def cut_power(self):
        """Ends the machine at once, like a power cut: data that the guest has not written to its disk is lost."""
        if self.running:
            self._process.kill()
        if self._process:
            self._process.wait()
        self._release_channel()
