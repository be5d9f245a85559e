/* SPDX-License-Identifier: Apache-2.0 */
/* An object with the fields that modinfo reads from a kernel module; RELEASE is the kernel release. */
static const char info[] __attribute__((section(".modinfo"), used, aligned(1))) =
    "license=Dual MIT/GPL\0version=535.261.03\0alias=char-major-195-*\0depends=drm\0alias=pci:v000010DE*\0"
    "vermagic=" RELEASE " SMP preempt mod_unload modversions ";
