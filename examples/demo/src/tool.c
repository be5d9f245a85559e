// SPDX-License-Identifier: Apache-2.0
// src/tool.c - takes the place of nvidia-smi: shows that library and tool of the package find each other.
#include <stdio.h>

const char* slipway_demonstration(void);

int main(void) {
  puts(slipway_demonstration());
  return 0;
}
