# SPDX-License-Identifier: Apache-2.0
# tests/e2e/standin - driver packages of the real format whose kernel modules load without a GPU: for live applies.
"""    make_package(slipway, layout, "535.261.03", source=True)
    make_package(slipway, layout, "550.163.01", kernel="6.1.0-50-amd64", headers_root=root)
    make_package(slipway, layout, "570.86.15", kernel=..., headers_root=root, refuses="nvidia-uvm")

    make_modules(folder, "550.163.01", kernel=..., headers_root=root)

The modules are compiled from src/ and drive nothing: nvidia.ko has the character major 195, /proc/driver/nvidia/version, a use count
that each open node raises, and `modprobe nvidia fail=1`, which fails. The libraries are those of the demonstration package.
"""

from standin.package import MODULES, make_modules, make_package

__all__ = ["MODULES", "make_modules", "make_package"]
