// SPDX-License-Identifier: Apache-2.0
#include "dcgm/service/run_settings.hpp"

namespace slipway::dcgm {
namespace {

bool same_files(const Settings& one, const Settings& other) {
  return one.config_file == other.config_file && one.collectors == other.collectors && one.names == other.names;
}

std::string problem_text(const Error& error) {
  const bool has_place = error.where.empty() || error.what.find(error.where) != std::string::npos;
  return error.what + " (" + (has_place ? "" : "at: " + error.where + ", ") + "do: " + error.next + ")";
}

/// Checks only files that are new in the spec; a file that the previous spec named may have broken since.
Status check_new_files(const Settings& asked, const Host& host, const Settings& before) {
  if (asked.web_config != before.web_config) SLIPWAY_CHECK(check_web_config(asked, host));
  if (asked.health_rules != before.health_rules) SLIPWAY_CHECK(rules_of_host(asked, host));
  return {};
}

}  // namespace

Result<RunSettings> settings_for_run(const Settings& asked, const Host& host, const std::optional<FormerRun>& former) {
  if (former) SLIPWAY_CHECK(check_new_files(asked, host, former->asked));
  const auto counters_with = [&host](const Settings& settings) {
    return counters_of(settings, reader_of(host, kMostCounterBytes));
  };
  RunSettings begin{.settings = asked, .counters = {}, .problem = {}};
  auto config = read_config_file(host, asked.config_file);
  if (config) take_config(*config, begin.settings);
  if (!config && !former) return config.error();
  const auto counters = config ? counters_with(begin.settings) : Result<Counters>(config.error());
  if (counters || !former) return begin;
  if (!same_files(asked, former->asked)) return counters.error();
  Settings with_former = asked;
  take_config(former->settings.config, with_former);
  if (config && !counters_with(with_former)) {  // the config file is valid, but the file of counters is broken
    begin.counters = former->counters;
    return begin;
  }
  begin.settings = std::move(with_former);
  begin.problem = "the previous content of " + asked.config_file + " stays in use: " + problem_text(counters.error());
  if (!counters_with(begin.settings)) begin.counters = former->counters;
  return begin;
}

}  // namespace slipway::dcgm
