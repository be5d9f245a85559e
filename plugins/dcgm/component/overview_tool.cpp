// SPDX-License-Identifier: Apache-2.0
// `slipway dcgm overview`: the answer to GET /overview.json of the service, without the service.
#include <charconv>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "dcgm/component/tools.hpp"
#include "dcgm/page/page_maker.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/settings.hpp"

namespace slipway::dcgm {
namespace {

/// Share of the time in which a GPU instance computes; a GPU in MIG mode has no utilization.
constexpr const char* kCounters = "DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, active";

CommandTable overview_line() {
  return {.about =
              "Prints what the page of the service shows, as JSON, one overview on each line: each GPU with its "
              "values, the "
              "last ten minutes, health, XIDs, MIG instances and processes.",
          .options = {{"interval", "TIME", "time between two overviews (default: 2s)"},
                      {"count", "NUMBER", "of overviews (default: 1)"},
                      {"driver-root", "DIR", "where the driver is installed (default: /)"}},
          .examples = {"slipway dcgm overview", "slipway dcgm overview --count 10 --interval 1s --sim h100x8"}};
}

struct OverviewToolOptions {
  std::chrono::milliseconds interval{2000};
  unsigned count = 1;
  std::string driver_root;
};

Result<OverviewToolOptions> read_options(const CommandWords& words) {
  OverviewToolOptions options{.driver_root = words.text("driver-root", "/")};
  SLIPWAY_TRY(interval, read_interval(words.text("interval", "2s"), "--interval"));
  options.interval = interval;
  const std::string count = words.text("count", "1");
  const auto [end, problem] = std::from_chars(count.data(), count.data() + count.size(), options.count);
  if (problem != std::errc{} || end != count.data() + count.size() || options.count == 0)
    return overview_line().wrong("--count takes a number of at least 1, not '" + count + "'");
  if (words.given("interval") && options.count == 1)
    return overview_line().wrong("--interval is the time between two overviews, so it needs a --count of 2 or more");
  return options;
}

/// True when standard output is a pipe whose reader has exited.
bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

Result<int> print_overviews(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(options, read_options(words));
  SLIPWAY_TRY(read, parse_counters(kCounters, "slipway"));
  const auto counters = std::make_shared<const Counters>(std::move(read));
  Sampler sampler(host, {.driver_root = options.driver_root, .until_exit = true, .find_hanging = options.count == 1},
                  [&io](const char*, const std::string& text) { io.log(text); });
  PageMaker page({.node = this_node(), .interval = options.interval});
  for (unsigned i = 0; i < options.count && !reader_is_gone(); ++i) {
    if (i != 0) std::this_thread::sleep_for(options.interval);
    const Sample sample = sampler.sample(counters, {.details = true});
    if (!sample.problem.empty() && options.count == 1)
      return Error{.code = ErrorCode::not_found,
                   .what = "the GPUs cannot be read: " + sample.problem,
                   .next = "`slipway doctor` reports what is wrong with the driver"};
    page.add(sample, PageMaker::Clock::now());
    io.print(terminal_safe(canonical(to_json(page.overview(sample, *counters, {}, false)))) + "\n");
  }
  return 0;
}

}  // namespace

Tool overview_tool() {
  return {"overview", "prints what the page of the service shows, as JSON", overview_line(), print_overviews};
}

}  // namespace slipway::dcgm
