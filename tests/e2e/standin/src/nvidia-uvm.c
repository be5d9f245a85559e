// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// standin/src/nvidia-uvm.c - stands in for nvidia-uvm.ko: a character device with a major that the kernel chooses.
#include "standin.h"

static int major;

static const struct file_operations operations = {.owner = THIS_MODULE, .llseek = noop_llseek};

static int __init start(void) {
#ifdef REFUSES_NVIDIA_UVM
  pr_err("nvidia-uvm: stand-in " DRIVER_VERSION ": this build refuses to start\n");
  return -EIO;
#endif
  pr_info("nvidia-uvm: stand-in for driver %s\n", nvidia_standin_version());
  major = __register_chrdev(0, 0, 2, "nvidia-uvm", &operations);
  return major < 0 ? major : 0;
}

static void __exit stop(void) { __unregister_chrdev(major, 0, 2, "nvidia-uvm"); }

module_init(start);
module_exit(stop);
STANDIN_MODULE("nvidia-uvm");
