/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/toolkit/empty.c - a library that does nothing: only its soname matters. */
int slipway_test_nothing(void);
int slipway_test_nothing(void) { return 0; }
