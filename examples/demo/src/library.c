// SPDX-License-Identifier: Apache-2.0
// src/library.c - a library of the demonstration package: it has the right file name and soname, and one function that
// returns a description.
const char* slipway_demonstration(void) { return "demonstration package of slipway: no NVIDIA software"; }
