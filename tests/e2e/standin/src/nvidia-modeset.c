// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// standin/src/nvidia-modeset.c - stands in for nvidia-modeset.ko: needs nvidia; its node is one of major 195.
#include "standin.h"

int nvidia_modeset_standin(void) { return 0; }
EXPORT_SYMBOL(nvidia_modeset_standin);

static int __init start(void) {
#ifdef REFUSES_NVIDIA_MODESET
  pr_err("nvidia-modeset: stand-in " DRIVER_VERSION ": this build refuses to start\n");
  return -EIO;
#endif
  pr_info("nvidia-modeset: stand-in for driver %s\n", nvidia_standin_version());
  return 0;
}

static void __exit stop(void) {}

module_init(start);
module_exit(stop);
STANDIN_MODULE("nvidia-modeset");
