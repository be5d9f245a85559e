// SPDX-License-Identifier: Apache-2.0
// plugins/mig/model/config.hpp - the configs of nvidia-mig-parted (version v1): which GPUs get which MIG devices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "mig/model/device_id.hpp"
#include "mig/profile/profile.hpp"
#include "nvidia/config/config_map.hpp"

namespace slipway::mig {

/// How many MIG devices of which profile; never zero of one.
using Counts = std::map<Profile, unsigned>;

/// What a GPU is to be, or is.
struct Layout {
  bool enabled = false;  ///< MIG mode
  Counts devices;

  bool operator==(const Layout&) const = default;
};

/// "MIG disabled", "MIG enabled without devices", "2 x 1g.10gb + 1 x 3g.40gb": the largest first.
std::string to_text(const Layout& layout);
/// {"1g.10gb": 2, …}
Json to_json(const Counts& counts);

/// One entry of a config.
struct Entry {
  std::string where;                             ///< "config.yaml:5:7", or its key path in a host spec
  std::vector<DeviceId> filter;                  ///< empty: every GPU
  std::optional<std::vector<unsigned>> devices;  ///< empty: all
  Layout layout;

  bool takes(unsigned index, const DeviceId& id) const;
};

using Entries = std::vector<Entry>;

struct Configs {
  std::string file;  ///< where they come from, for messages
  std::map<std::string, Entries> by_name;
  std::vector<std::string> warnings = {};  ///< what the file says twice
};

/// Errors: `invalid` for what breaks a rule of the format, with its place.
Result<Configs> read_configs(const nvidia::config::Node& file);
/// Of a file with the configs, or with a ConfigMap that has one.
Result<Configs> configs_from_yaml(const std::string& text, const std::string& file);

/// The config of that name; the only one where none is named. Errors: `not_found`, with the names that there are.
Result<Entries> select_config(const Configs& configs, const std::string& name);

/// The last entry that takes a GPU counts. Null: none does, and the GPU stays as it is.
const Entry* entry_for(const Entries& entries, unsigned index, const DeviceId& id);

}  // namespace slipway::mig
