// SPDX-License-Identifier: Apache-2.0
// plugins/validator/probe/driver_probe.cpp - validator-driver-probe MILLISECONDS LIBRARY ROOT: asks NVML whether every
// GPU answers, and prints one line of JSON (driver_look.hpp).
//
// A program of its own, because NVML's memory is released only when the process ends. MILLISECONDS is the limit of each
// question; LIBRARY the library to open, or empty: the one of the driver below ROOT.
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include <unistd.h>

#include <slipway/json.hpp>

#include "validator/driver_look.hpp"

int main(int count, char** values) {
  using namespace slipway;
  std::chrono::milliseconds::rep limit = 0;
  const std::string_view number = count == 4 ? values[1] : "";
  if (std::from_chars(number.data(), number.data() + number.size(), limit).ec != std::errc{} || limit <= 0) {
    std::fputs("only slipway starts validator-driver-probe; see `slipway verify --only validator`\n", stderr);
    return 64;
  }
  const auto looked = validator::look_at_driver({.named = values[2], .driver_root = values[3], .machine = nullptr},
                                                std::chrono::milliseconds(limit));
  const std::string line = canonical(validator::to_json(looked)) + "\n";
  const bool written = ::write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::_exit(written ? 0 : 1);  // the kernel releases the rest, even if a call hangs
}
