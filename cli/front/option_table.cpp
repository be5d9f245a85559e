// SPDX-License-Identifier: Apache-2.0
#include "cli/front/option_table.hpp"

#include <algorithm>

namespace slipway::cli {

const std::vector<CommandOption>& all_options() {
  static const std::vector<CommandOption> all{
      {.name = "file", .value = "SPEC", .help = "host spec (default /etc/slipway/host.yaml)", .letter = 'f'},
      {.name = "root", .value = "DIR", .help = "root filesystem to act on (default /)"},
      {.name = "kernel", .value = "RELEASE", .help = "kernel to provision for", .repeats = true},
      {.name = "only", .value = "A,B", .help = "only these components"},
      {.name = "output", .value = "text|json|jsonl", .help = "form of the result (default text)", .letter = 'o'},
      {.name = "sim",
       .value = "PROFILE",
       .help = "a simulated machine, for example h100x8, or the file of one (./mi300.yaml)"},
      {.name = "live",
       .help = "act on the running kernel and init system although --root is not /, or / looks like an image's"},
      {.name = "image",
       .help = "/ is an image that is being built, as by RUN in a Dockerfile: no part of a running machine"},
      {.name = "lock",
       .value = "FILE",
       .help = "the lock file, which pins artifacts (default: slipway.lock beside the spec)"},
      {.name = "locked", .help = "fail rather than take anything that the lock does not pin"},
      {.name = "update",
       .help = "choose anew what the lock pins: the newest that the spec allows; an apply with --lock writes it there"},
      {.name = "replace-edits",
       .value = "[=PATH]",
       .help = "put what the spec asks for in the place of edits that are kept: of all, or of this path",
       .repeats = true},
      {.name = "without-slipway", .help = "units may be planned for an image in which slipway is not installed (yet)"},
      {.name = "cache", .value = "DIR", .help = "where downloads and builds are kept"},
      {.name = "boot",
       .help = "apply, verify: the generation in force, as the units of a boot do; service: as its unit runs it"},
      {.name = "condition",
       .help = "service, with --boot: only says whether its device is there, by 0 or 1 (ExecCondition= of its unit)"},
      {.name = "dry-run",
       .help =
           "only says what would be done; accept, apply, remove, repair and rollback then exit as `slipway plan` does"},
      {.name = "wait",
       .value = "[=DURATION]",
       .help = "while something is in use or another slipway is at work, apply again, with longer and longer pauses, "
               "until DURATION (90s, 10m, 1h) "
               "is over; without one for as long as it takes"},
      {.name = "wait-for-source",
       .value = "[=DURATION]",
       .help = "while an artifact source does not answer, apply again, with pauses of 5 seconds to 5 minutes, until "
               "DURATION is over (exit status 3); without one for as long as it takes"},
      {.name = "yes", .help = "do not ask", .letter = 'y'},
      {.name = "insecure", .help = "plain HTTP to a registry that is not on loopback"},
      {.name = "ca", .value = "PEM", .help = "a private CA of the registry's"},
      {.name = "log-format",
       .value = "text|json",
       .help = "form of the log on standard error (default text; under systemd, entries of its journal)"},
      {.name = "verbose", .help = "say more, and log down to debug", .letter = 'v'},
      {.name = "help", .help = "this text", .letter = 'h'},
  };
  return all;
}

std::vector<CommandOption> options_named(const std::vector<std::string>& names) {
  std::vector<CommandOption> named;
  for (const CommandOption& option : all_options())
    if (std::ranges::count(names, option.name) != 0) named.push_back(option);
  return named;
}

}  // namespace slipway::cli
