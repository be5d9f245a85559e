// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/config.hpp - how labels are made: strategy, sharing, where they go.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway::gfd {

enum class MigStrategy { none, single, mixed };

std::string_view to_string(MigStrategy strategy);
/// Errors: `invalid`, naming the three.
Result<MigStrategy> parse_mig_strategy(const std::string& text, const std::string& where);

/// Which resources the device plugin hands out several times.
struct Sharing {
  enum class Strategy { none, time_slicing, mps };
  Strategy strategy = Strategy::none;
  bool rename = false;                       ///< the resources get another name; products then no "-SHARED"
  std::map<std::string, unsigned> replicas;  ///< by resource: "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
};

inline constexpr const char* kFeatureFile = "/etc/kubernetes/node-feature-discovery/features.d/gfd";
inline constexpr const char* kMachineTypeFile = "/sys/class/dmi/id/product_name";

struct Config {
  MigStrategy mig_strategy = MigStrategy::none;
  bool timestamp = true;
  bool operator_labels = false;
  std::string output = kFeatureFile;
  std::string machine_type_file = kMachineTypeFile;
  std::optional<std::chrono::milliseconds> interval = std::chrono::seconds(60);  ///< empty: once, then wait for SIGHUP
  std::string driver_root = "/";
  Sharing sharing;
};

/// Takes over what a config file of the device plugin and GPU Feature Discovery says (version v1); keys for others are
/// passed over. Errors: `invalid`.
Status take_upstream_config(const Json& file, const std::string& where, Config& config);

/// The component's section of the host spec: its own keys over those of its `config`.
Result<Config> config_of(const Spec& spec);

/// "90s", "1m30s", "infinite" as Go writes durations. Errors: `invalid`.
Result<std::optional<std::chrono::milliseconds>> parse_interval(const std::string& text, const std::string& where);

/// The one document as JSON; an empty one is null. Errors: `invalid`, with file:line:column.
Result<Json> json_from_yaml(const std::string& text, const std::string& file);

}  // namespace slipway::gfd
