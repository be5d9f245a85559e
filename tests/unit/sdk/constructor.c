// SPDX-License-Identifier: Apache-2.0
// A library that acts when it is loaded: it creates the file that SLIPWAY_TEST_MARK names.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_mark(void) {
  const char* const mark = getenv("SLIPWAY_TEST_MARK");
  if (mark != NULL) (void)close(open(mark, O_CREAT | O_WRONLY, 0600));
}
