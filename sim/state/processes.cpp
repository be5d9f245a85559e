// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "sim/state/machine.hpp"

namespace slipway::sim {

std::uint64_t start_of_process(std::uint32_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[2048];
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return 0;
  text[got] = '\0';
  // "PID (NAME) STATE …": the name may contain any characters. The state is field 3, the start field 22.
  const char* at = strrchr(text, ')');
  if (at == nullptr || strlen(at) < 3 || at[2] == 'Z' || at[2] == 'X') return 0;
  for (int field = 2; field < 22 && at != nullptr; ++field) at = strchr(at + 1, ' ');
  return at == nullptr ? 0 : strtoull(at + 1, nullptr, 10);
}

void drop_ended_processes(Machine& machine) {
  for (Process& process : machine.processes)
    if (process.used != 0 && process.start != 0 && start_of_process(process.pid) != process.start) process = Process{};
}

}  // namespace slipway::sim
