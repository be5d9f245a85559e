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
      {.name = "output", .value = "text|json|jsonl", .help = "output format (default text)", .letter = 'o'},
      {.name = "sim",
       .value = "PROFILE",
       .help = "a simulated machine, for example h100x8, or the file of one (./mi300.yaml)"},
      {.name = "live",
       .help = "act on the running kernel and init system although --root is not /, or / looks like an image's"},
      {.name = "image",
       .help = "/ is an image that is being built, as by RUN in a Dockerfile, and not a running machine"},
      {.name = "lock",
       .value = "FILE",
       .help = "the lock file, which pins artifacts (default: slipway.lock beside the spec)"},
      {.name = "locked", .help = "fail when an artifact is not pinned by the lock"},
      {.name = "update",
       .help = "replace what the lock pins by the newest versions that the spec allows; an apply with --lock writes "
               "them there"},
      {.name = "replace-edits",
       .value = "[=PATH]",
       .help = "replace kept edits with what the spec asks for: all of them, or the one of this path",
       .repeats = true},
      {.name = "without-slipway", .help = "units may be planned for an image in which slipway is not installed (yet)"},
      {.name = "cache", .value = "DIR", .help = "where downloads and builds are kept"},
      {.name = "boot",
       .help = "apply, verify: use the active generation, as the units of a boot do; service: run it as its unit does"},
      {.name = "condition",
       .help = "service, with --boot: only check whether its device exists, and exit with 0 or 1 (ExecCondition= of "
               "its unit)"},
      {.name = "dry-run",
       .help = "only shows what would be done; accept, apply, remove, repair and rollback then exit as `slipway plan` "
               "does"},
      {.name = "wait",
       .value = "[=DURATION]",
       .help = "while something is in use or another slipway is running, apply again, with longer and longer pauses, "
               "until DURATION (90s, 10m, 1h) is over; without DURATION, for as long as it takes"},
      {.name = "wait-for-source",
       .value = "[=DURATION]",
       .help = "while an artifact source does not answer, apply again, with pauses of 5 seconds to 5 minutes, until "
               "DURATION is over (exit status 3); without DURATION, for as long as it takes"},
      {.name = "yes", .help = "do not ask", .letter = 'y'},
      {.name = "insecure", .help = "plain HTTP to a registry that is not on loopback"},
      {.name = "ca", .value = "PEM", .help = "PEM file of the registry's private CA"},
      {.name = "log-format",
       .value = "text|json",
       .help = "format of the log on standard error (default text; under systemd, entries of its journal)"},
      {.name = "verbose", .help = "print more, and log at level debug", .letter = 'v'},
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
