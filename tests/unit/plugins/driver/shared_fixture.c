/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library whose soname is libcuda.so.1. */
int slipway_test_symbol(void);
int slipway_test_symbol(void) { return 1; }
