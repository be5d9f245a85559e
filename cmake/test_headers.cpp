// SPDX-License-Identifier: Apache-2.0
// cmake/test_headers.cpp - the program whose precompiled headers all test programs use.
int main() { return 0; }
