/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* standin/src/standin.h - what the stand-in modules share: they load, say what they are, and drive nothing. */
#ifndef STANDIN_H
#define STANDIN_H

#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/module.h>

#include "version.h" /* DRIVER_VERSION; for a package that is to fail also REFUSES_NVIDIA_UVM or the like */

const char* nvidia_standin_version(void);
int nvidia_modeset_standin(void);

#define STANDIN_MODULE(text)      \
  MODULE_LICENSE("Dual MIT/GPL"); \
  MODULE_VERSION(DRIVER_VERSION); \
  MODULE_DESCRIPTION("stand-in for tests: " text)

#endif
