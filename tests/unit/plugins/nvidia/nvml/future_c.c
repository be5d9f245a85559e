// SPDX-License-Identifier: Apache-2.0
// tests/unit/nvml/future_c.c - stands for a C library of years to come while needs_future.c is linked.
int from_the_future(void);
int from_the_future(void) { return 0; }
