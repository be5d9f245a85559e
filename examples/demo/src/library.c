// SPDX-License-Identifier: Apache-2.0
// src/library.c - a library of the demonstration package: it has the right file name and soname, and one function that
// says what it is.
const char* slipway_demonstration(void) { return "demonstration package of slipway: no NVIDIA software"; }
