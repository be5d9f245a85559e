// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/config.hpp - how labels are made: strategy, sharing, where they go.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "nvidia/config/settings.hpp"

namespace slipway::gfd {

using nvidia::config::MigStrategy;
using nvidia::config::parse_mig_strategy;

inline constexpr const char* kFeatureFile = "/etc/kubernetes/node-feature-discovery/features.d/gfd";
inline constexpr const char* kMachineTypeFile = "/sys/class/dmi/id/product_name";

struct Config {
  MigStrategy mig_strategy = MigStrategy::none;
  bool timestamp = true;
  bool operator_labels = false;
  bool pci_labels = false;
  std::string output = kFeatureFile;
  std::string machine_type_file = kMachineTypeFile;
  std::optional<std::chrono::milliseconds> interval = std::chrono::seconds(60);  ///< empty: once, then wait for SIGHUP
  std::string driver_root = "/";
  bool fail_on_init_error = false;  ///< the service ends where it finds no driver at its start
  nvidia::config::Sharing sharing;
  std::vector<nvidia::config::NamePattern> gpu_names;  ///< of the config's `resources`, which names the GPUs' resources
  std::vector<nvidia::config::NamePattern> mig_names;  ///< likewise
  std::set<std::string> named_resources;               ///< that these make, which have no labels of their own
  std::vector<std::string> warnings;                   ///< of the configuration: keys that are not known
};

/// Takes over what GPU Feature Discovery reads of the settings that it shares with the device plugin. Errors:
/// `invalid`.
Status take_settings(const nvidia::config::Settings& settings, Config& config);

/// Takes over what a config file of the device plugin and GPU Feature Discovery says (version v1); it is taken and
/// refused as by deviceplugin. Errors: `invalid`.
Status take_upstream_config(const nvidia::config::Node& file, Config& config);

/// The component's section of the host spec: its own keys over those of its `config` or `config_file`, which is read,
/// or over what deviceplugin has (nvidia/config/shared.hpp).
/// Errors: `invalid`, `not_found`, with the place.
Result<Config> config_of(const Spec& spec, const Host& host);
/// The same, of a config that was read already; with the variables of the service's own environment.
/// @param process  as read_settings() had it
Result<Config> config_of(const Spec& spec, const nvidia::config::Settings& settings,
                         const char* (*process)(const char* name));

/// What the section says otherwise than deviceplugin's, a sentence each. Errors: as config_of().
Result<std::vector<std::string>> contradictions_of(const Spec& spec, const Host& host);

/// "90s", "1m30s", "infinite" as Go writes durations. Errors: `invalid`.
Result<std::optional<std::chrono::milliseconds>> parse_interval(const std::string& text, const std::string& where);

}  // namespace slipway::gfd
