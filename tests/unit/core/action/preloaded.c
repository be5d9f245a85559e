// SPDX-License-Identifier: Apache-2.0
// A library that acts when it is loaded: it creates /opt/loaded.
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_mark(void) {
  (void)close(open("/opt/loaded", O_CREAT | O_WRONLY, 0600));
}
