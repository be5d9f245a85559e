# SPDX-License-Identifier: Apache-2.0
# tests/e2e/guest - real kernels for tests: an ext4 image from a folder, qemu with or without KVM, commands run inside.
"""Boots a root filesystem in qemu and runs commands in it.

    from guest import Vm, make_image
    make_image("root", "disk.img")
    with Vm("disk.img") as vm:
        print(vm.run("uname -r").stdout)
        vm.reboot()
"""

from guest.channel import ChannelError, Completed
from guest.image import make_image
from guest.machine import GuestError, Vm

__all__ = ["ChannelError", "Completed", "GuestError", "Vm", "make_image"]
