// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/config.hpp - the settings of labels: strategy, sharing, and their destination.
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
  std::optional<std::chrono::milliseconds> interval = std::chrono::seconds(60);  ///< empty: one pass, then wait for
                                                                                 ///< SIGHUP
  std::string driver_root = "/";
  bool fail_on_init_error = false;  ///< the service exits if it finds no driver at its start
  nvidia::config::Sharing sharing;
  std::vector<nvidia::config::NamePattern>
      gpu_names;  ///< patterns of the config's `resources`, with the names of the GPUs' resources
  std::vector<nvidia::config::NamePattern> mig_names;  ///< likewise
  std::set<std::string> named_resources;               ///< resources that these patterns name; they have no labels of
                                                       ///< their own
  std::vector<std::string> warnings;                   ///< about the configuration: unknown keys
};

/// Copies the settings that GPU Feature Discovery shares with the device plugin. Errors: `invalid`.
Status take_settings(const nvidia::config::Settings& settings, Config& config);

/// Reads a config file of the device plugin and GPU Feature Discovery (version v1), with the same rules as
/// deviceplugin. Errors: `invalid`.
Status take_upstream_config(const nvidia::config::Node& file, Config& config);

/// Reads the component's section of the host spec: its own keys override those of its `config` or `config_file`, or
/// else those of deviceplugin (nvidia/config/shared_settings.hpp). Errors: `invalid`, `not_found`, with the place.
Result<Config> config_of(const Spec& spec, const Host& host);
/// The same for a config that is already read, with the variables of the service's own environment.
/// @param process  as for read_settings()
Result<Config> config_of(const Spec& spec, const nvidia::config::Settings& settings,
                         const char* (*process)(const char* name));

/// Returns a sentence for each setting that differs from deviceplugin's. Errors: those of config_of().
Result<std::vector<std::string>> contradictions_of(const Spec& spec, const Host& host);

/// Reads "90s", "1m30s", "infinite" in Go's syntax for durations. Errors: `invalid`.
Result<std::optional<std::chrono::milliseconds>> parse_interval(const std::string& text, const std::string& where);

}  // namespace slipway::gfd
