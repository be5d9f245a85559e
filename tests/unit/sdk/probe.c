/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/sdk/probe.c - a static program for roots without libraries: prints its surroundings. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char line[256] = "";
  FILE* name = fopen("/etc/name", "r");
  if (name != NULL && fgets(line, sizeof line, name) != NULL) line[strcspn(line, "\n")] = '\0';
  printf("%s %s", argv[0], line);
  for (int i = 1; i < argc; ++i) printf(" %s", argv[i]);
  char folder[256] = "";
  printf(" in %s\n", getcwd(folder, sizeof folder) != NULL ? folder : "?");
  return 7;
}
