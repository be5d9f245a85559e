// SPDX-License-Identifier: Apache-2.0
#include "dcgm/top/line.hpp"

#include "dcgm/settings.hpp"

namespace slipway::dcgm {

CommandTable top_line() {
  return {.call = "slipway top",
          .usage = "[options]",
          .about =
              "Shows all GPUs, live: utilization, memory, temperature, power, clocks, health, MIG instances, processes "
              "and pods. The values are those of the running service dcgm; without one, it samples by itself. q "
              "quits. Where standard output is not a terminal, it prints once.",
          .notes = "`slipway dcgm top` is the same.",
          .options = {{"once", "", "prints once, and ends"},
                      {.name = "output",
                       .value = "text|json",
                       .help = "output format; with json one sample is printed",
                       .letter = 'o'},
                      {"interval", "TIME", "time between two samples: 500ms, 2s (default: 2s)"},
                      {"direct", "", "samples by itself, even where the service runs"},
                      {"service", "ADDRESS:PORT",
                       "address of the service (default: where the service of the root listens)"},
                      {"root", "DIR", "the root whose service is used (default: /)"},
                      {"sim", "PROFILE", "a simulated machine, such as h100x8"}},
          .examples = {"slipway top", "slipway top --once", "slipway top -o json", "slipway top --sim h100x8"}};
}

Result<TopOptions> read_top_options(const CommandWords& words, bool draws) {
  const CommandTable line = top_line();
  TopOptions options{.once = words.flag("once"),
                     .json = words.text("output", "text") == "json",
                     .direct = words.flag("direct"),
                     .interval = {},
                     .sim = words.text("sim"),
                     .root = words.text("root", "/"),
                     .service = {}};
  if (const std::string form = words.text("output", "text"); form != "text" && form != "json")
    return line.wrong("--output takes text or json, not '" + form + "'");
  if (words.given("interval")) {
    SLIPWAY_TRY(interval, read_interval(words.text("interval"), "--interval"));
    options.interval = interval;
    if (options.once || options.json || !draws)
      return line.wrong("--interval has no effect with --once, with -o json, or where the output is not a terminal");
  }
  if (words.given("service")) {
    Settings settings;
    if (!read_listen(words.text("service"), settings) || settings.address == "::" || settings.address == "0.0.0.0")
      return line.wrong("--service takes an address and a port, such as 127.0.0.1:9400, not '" + words.text("service") +
                        "'");
    options.service = ServicePlace{settings.address, settings.port};
  }
  if (options.service && options.direct)
    return line.wrong("--direct uses no service, so it cannot be combined with --service");
  if (words.given("root") && (options.service || options.direct || words.given("sim")))
    return line.wrong("--root says whose service is used, so it cannot be combined with --service, --direct or --sim");
  if (words.given("sim") && options.sim.empty()) return line.wrong("--sim needs a profile");
  if (!options.sim.empty() && (options.service || options.direct))
    return line.wrong("--sim samples a simulated machine, so it cannot be combined with --service or --direct");
  return options;
}

}  // namespace slipway::dcgm
