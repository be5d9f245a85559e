// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/component/host_check.hpp - whether a host has what the settings name, before a service stumbles over it.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "dcgm/sampler/sample.hpp"
#include "dcgm/settings.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::dcgm {

/// As the service will read them. Errors: those of read_config_file() and counters_of().
Result<Counters> counters_of_host(Settings settings, const Host& host);

/// With a site's file over slipway's own. Errors: those of the file, and of check_rule_fields().
Result<nvidia::health::Rules> rules_of_host(const Settings& settings, const Host& host);

/// Nothing is read of what the web-config file names, whose keys are secrets. Errors: of read_web_config().
Status check_web_config(const Settings& settings, const Host& host);

/// All of these files, and the GPUs that are named by number, where it is known how many there are.
Status check_host(const Settings& settings, const Host& host);

/// What the service goes on without: a metric or a label is not told then.
struct Missing {
  std::string check;  ///< "dcgm.kubelet"
  std::string text;
  std::string remedy;
};
/// DCGM's library and host engine, kubelet's socket, the folder of jobs.
std::vector<Missing> missing_on(const Settings& settings, const Host& host);

/// Empty: there is no engine, or no counter that only it tells.
std::string asked_of_the_engine(const std::string& engine, const Counters& counters);
/// What is wrong with a file of counters, or left out of it; a sentence each.
std::vector<std::string> remarks_on(const std::string& engine, const Counters& counters);

/// Why the selection of devices gives nothing; empty: it does, or no GPU can be read. @param sample  taken with it
std::string empty_selection(const Settings& settings, const Sample& sample);
inline constexpr const char* kSelectionRemedy =
    "correct `devices`: GPU instances (i) are there on GPUs in MIG mode alone, eight numbers for each GPU";

}  // namespace slipway::dcgm
