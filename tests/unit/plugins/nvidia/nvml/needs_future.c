// SPDX-License-Identifier: Apache-2.0
// tests/unit/nvml/needs_future.c - a library that was built for a newer C library than this machine has.
int from_the_future(void);
int nvmlInit_v2(void);
int nvmlInit_v2(void) { return from_the_future(); }
