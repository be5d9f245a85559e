// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// standin/src/nvidia-drm.c - stands in for nvidia-drm.ko: needs nvidia-modeset, and does nothing.
#include "standin.h"

static int __init start(void) { return nvidia_modeset_standin(); }

static void __exit stop(void) {}

module_init(start);
module_exit(stop);
STANDIN_MODULE("nvidia-drm");
