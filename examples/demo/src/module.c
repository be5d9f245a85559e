// SPDX-License-Identifier: Apache-2.0
// src/module.c - a file in the form of a kernel module (ELF with .modinfo, as include/linux/moduleparam.h makes it),
// for depmod and modinfo. It contains no code: no kernel would load it.
#define MODINFO(name, text) static const char name[] __attribute__((section(".modinfo"), used, aligned(1))) = text

#ifndef MODULE_LICENSE
#define MODULE_LICENSE "Dual MIT/GPL"  // of the open modules
#endif
MODINFO(modinfo_license, "license=" MODULE_LICENSE);
MODINFO(modinfo_description, "description=demonstration package of slipway: no NVIDIA software");
MODINFO(modinfo_version, "version=" DRIVER_VERSION);
MODINFO(modinfo_name, "name=" MODULE_NAME);
MODINFO(modinfo_depends, "depends=" MODULE_DEPENDS);
MODINFO(modinfo_vermagic, "vermagic=" KERNEL_RELEASE " SMP preempt mod_unload modversions ");

#ifdef LAYOUT_CHECKSUM
// struct modversion_info of include/linux/module.h (Linux 6.1)
static const struct {
  unsigned long checksum;
  char name[64 - sizeof(unsigned long)];
} versions[] __attribute__((section("__versions"), used)) = {{LAYOUT_CHECKSUM, "module_layout"}};
#endif
