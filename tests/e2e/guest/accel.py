# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest/accel.py - decides between KVM and emulation by trying, since /dev/kvm may exist and still not work.

import functools
import os
import subprocess
import tempfile

QEMU = "qemu-system-x86_64"
# A boot sector: mov dx,0xf4; mov al,0x2a; out dx,al; hlt. qemu's isa-debug-exit then ends with 2 * 0x2a + 1.
SECTOR = (bytes([0xBA, 0xF4, 0x00, 0xB0, 0x2A, 0xEE, 0xF4]).ljust(510, b"\0")) + b"\x55\xaa"
STATUS = 2 * 0x2A + 1


def _runs_boot_sector(accel):
    """Returns whether KVM works, and fast: if it is itself emulated it takes seconds, and Linux does not boot."""
    with tempfile.NamedTemporaryFile(suffix=".img") as disk:
        disk.write(SECTOR)
        disk.flush()
        command = [QEMU, "-accel", accel, "-m", "32", "-nodefaults", "-display", "none", "-no-reboot",
                   "-device", "isa-debug-exit,iobase=0xf4,iosize=1", "-drive", f"file={disk.name},format=raw,if=ide"]
        try:
            return subprocess.run(command, capture_output=True, timeout=1).returncode == STATUS
        except subprocess.TimeoutExpired:
            return False


@functools.lru_cache(maxsize=None)
def accel():
    """Returns `kvm` if a guest really runs with it, else `tcg`; SLIPWAY_E2E_ACCEL overrides it."""
    chosen = os.environ.get("SLIPWAY_E2E_ACCEL")
    if chosen:
        return chosen
    return "kvm" if os.access("/dev/kvm", os.R_OK | os.W_OK) and _runs_boot_sector("kvm") else "tcg"


def accel_options(name):
    """Returns qemu's options for it. Emulated: a thread for each CPU, room for translated code, plain x86-64
    baseline."""
    if name == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=multi,tb-size=512", "-cpu", "qemu64,-svm"]
