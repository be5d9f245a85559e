// SPDX-License-Identifier: Apache-2.0
#include "dcgm/component/tools.hpp"

#include <filesystem>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "dcgm/component/host_check.hpp"
#include "dcgm/exposition/exposition.hpp"
#include "dcgm/health/health_watch.hpp"
#include "dcgm/names/name_sets.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/settings.hpp"
#include "dcgm/top/line.hpp"

namespace slipway::dcgm {
namespace {

CommandTable metrics_line() {
  return {.about =
              "Prints one sample of all GPUs in Prometheus' text format, with the metrics of dcgm-exporter. Rates are "
              "taken over the time between two readings.",
          .notes =
              "The variables DCGM_EXPORTER_COLLECTORS and NODE_NAME have the same effect as for dcgm-exporter. "
              "DCGM_EXP_GPU_HEALTH_STATUS uses /etc/slipway/health-rules.yaml, if it exists.",
          .options = {{"interval", "TIME", "time between the two readings: 100ms, 1s (default: 100ms)"},
                      {.name = "collectors",
                       .value = "FILE",
                       .help = "the counters, as dcgm-exporter's default-counters.csv (default: those of that file)",
                       .letter = 'f',
                       .variables = {"DCGM_EXPORTER_COLLECTORS"}},
                      {"names", "SETS", "dcgm, openmetrics and articles, with commas between them (default: dcgm)"},
                      {"driver-root", "DIR", "where the driver is installed (default: /)"}},
          .examples = {"slipway dcgm metrics", "slipway dcgm metrics --interval 1s --sim h100x8"}};
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

/// Returns the health rules (slipway's merged with the site's) if the counters include GPU health.
Result<nvidia::health::Rules> rules_for(const Counters& counters, const Host& host) {
  if (!counters.wants_exporter(kHealthStatus)) return nvidia::health::default_rules();
  SLIPWAY_TRY(rules, nvidia::health::read_rules(host));
  SLIPWAY_CHECK(check_rule_fields(rules));
  return rules;
}

Result<std::string> named_file(const std::string& path) {
  auto text = read_regular(path, kMostCounterBytes);
  if (text) return text;
  Error error = text.error();
  if (error.where.empty() || error.where == path) error.where = "--collectors";
  if (error.next.empty()) error.next = "name a file of counters, or leave it out for the default ones";
  return error;
}

/// Prints one sample.
Result<int> print_metrics(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(options, read_metrics_options(words));
  const auto counters = std::make_shared<const Counters>(std::move(options.counters));
  for (const std::string& remark : remarks_on("none", *counters)) io.warn(remark);
  SLIPWAY_TRY(rules, rules_for(*counters, host));
  Sampler sampler(host,
                  {.driver_root = options.driver_root,
                   .first_interval = options.interval,
                   .until_exit = true,
                   .find_hanging = true},
                  [&io](const char*, const std::string& text) { io.log(text); });
  const Sample sample = sampler.sample(counters);
  if (!sample.problem.empty())
    return Error{.code = ErrorCode::not_found,
                 .what = "the GPUs cannot be read: " + sample.problem,
                 .next = "`slipway doctor` tells what is wrong with the driver"};
  EventCounts events({});
  events.take(sample, *counters);
  SLIPWAY_TRY(root, RootDir::open(host.root_folder()));
  HealthWatch health(std::move(root));
  health.take(sample, *counters, rules, std::chrono::steady_clock::now());
  io.print(exposition_text(
      sample, *counters,
      {.host_name = this_node(), .names = options.names, .health = health.watches(rules), .events = &events}));
  return 0;
}

CommandTable fields_line() {
  return {.about = "Prints the fields of DCGM that a file of counters can select, as a table in Markdown.",
          .examples = {"slipway dcgm fields"}};
}

Result<int> print_fields(const CommandWords& /*words*/, const Host& /*host*/, ToolIo& io) {
  io.print(field_table());
  return 0;
}

}  // namespace

Result<MetricsOptions> read_metrics_options(const CommandWords& words) {
  MetricsOptions options;
  SLIPWAY_TRY(interval, read_interval(words.text("interval", "100ms"), "--interval"));
  options.interval = interval;
  const std::string file = absolute(words.text("collectors"));
  SLIPWAY_TRY(counters, counters_of(file, file.empty() ? Result<std::string>(std::string()) : named_file(file)));
  SLIPWAY_TRY(names, parse_name_sets(split(words.text("names", "dcgm"), ','), "--names"));
  options.names = names;
  options.counters = with_fields_of(names, std::move(counters));
  options.driver_root = absolute(words.text("driver-root", options.driver_root));
  return options;
}

Tools::Tools()
    : ToolTable({{"metrics", "prints one sample of all GPUs as Prometheus reads it", metrics_line(), print_metrics},
                 {"fields", "prints the fields that can be selected", fields_line(), print_fields},
                 health_rules_tool(),
                 overview_tool(),
                 {"top", "shows all GPUs, live", top_line(), {}}}) {}

}  // namespace slipway::dcgm
