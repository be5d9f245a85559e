// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// standin/src/nvidia.c - stands in for nvidia.ko: character devices of major 195 and /proc/driver/nvidia, no GPU.
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "standin.h"

#define NVIDIA_MAJOR 195

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "the module refuses to start");

static struct proc_dir_entry* folder;

const char* nvidia_standin_version(void) { return DRIVER_VERSION; }
EXPORT_SYMBOL(nvidia_standin_version);

static const struct file_operations operations = {.owner = THIS_MODULE, .llseek = noop_llseek};

static int show_version(struct seq_file* file, void* unused) {
  seq_puts(file, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " DRIVER_VERSION
                 "  Release Build  (slipway@e2e)\n");
  seq_puts(file, "GCC version:  stand-in for tests\n");
  return 0;
}

static int __init start(void) {
  int status;
#ifdef REFUSES_NVIDIA
  pr_err("NVRM: stand-in " DRIVER_VERSION ": this build refuses to start\n");
  return -EIO;
#endif
  if (fail) {
    pr_err("NVRM: stand-in " DRIVER_VERSION ": it is asked to refuse to start\n");
    return -EIO;
  }
  status = __register_chrdev(NVIDIA_MAJOR, 0, 256, "nvidia", &operations);
  if (status < 0) return status;
  folder = proc_mkdir("driver/nvidia", NULL);
  if (!folder || !proc_mkdir("gpus", folder) || !proc_create_single("version", 0444, folder, show_version)) {
    proc_remove(folder);
    __unregister_chrdev(NVIDIA_MAJOR, 0, 256, "nvidia");
    return -ENOMEM;
  }
  return 0;
}

static void __exit stop(void) {
  proc_remove(folder);
  __unregister_chrdev(NVIDIA_MAJOR, 0, 256, "nvidia");
}

module_init(start);
module_exit(stop);
STANDIN_MODULE("nvidia");
