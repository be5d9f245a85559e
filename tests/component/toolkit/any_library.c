/* SPDX-License-Identifier: Apache-2.0 */
/* tests/component/toolkit/any_library.c - a shared library, so that linkers have something to find. */
int slipway_any(void);
int slipway_any(void) { return 1; }
