// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/component/host_check.hpp - checks that a host has everything that the settings name, before the service
// starts.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "dcgm/sampler/sample.hpp"
#include "dcgm/settings.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::dcgm {

/// Reads the counters as the service will read them. Errors: those of read_config_file() and counters_of().
Result<Counters> counters_of_host(Settings settings, const Host& host);

/// Returns slipway's health rules merged with the site's file. Errors: those of the file, and of check_rule_fields().
Result<nvidia::health::Rules> rules_of_host(const Settings& settings, const Host& host);

/// Checks the web-config file without reading the key files that it names, which are secrets. Errors: those of
/// read_web_config().
Status check_web_config(const Settings& settings, const Host& host);

/// Checks all of these files, and GPU indexes in the spec if the number of GPUs is known.
Status check_host(const Settings& settings, const Host& host);

/// Something that is missing on the host; the service runs without it and leaves out a metric or a label.
struct Missing {
  std::string check;  ///< "dcgm.kubelet"
  std::string text;
  std::string remedy;
};
/// Looks for DCGM's library and host engine, kubelet's socket and the folder of jobs.
std::vector<Missing> missing_inputs(const Settings& settings, const Host& host);

/// Lists the counters that only the engine has; empty: no engine is set, or no counter needs it.
std::string asked_of_the_engine(const std::string& engine, const Counters& counters);
/// Returns a sentence for each problem with a file of counters and for each counter that is left out.
std::vector<std::string> remarks_on(const std::string& engine, const Counters& counters);

/// Says why the selection of devices matches nothing; empty: it matches something, or no GPU can be read. @param sample
/// taken with it
std::string empty_selection(const Settings& settings, const Sample& sample);
inline constexpr const char* kSelectionRemedy =
    "correct `devices`: only GPUs in MIG mode have GPU instances (i), with eight numbers for each GPU";

}  // namespace slipway::dcgm
