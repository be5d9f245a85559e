// SPDX-License-Identifier: Apache-2.0
// plugins/mig/model/config.hpp - the configs of nvidia-mig-parted (version v1): the MIG devices of each GPU.
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

/// Number of MIG devices by profile; never zero.
using Counts = std::map<Profile, unsigned>;

/// The target or current state of a GPU.
struct Layout {
  bool enabled = false;  ///< MIG mode
  Counts devices;

  bool operator==(const Layout&) const = default;
};

/// Returns "MIG disabled", "MIG enabled without devices", or "2 x 1g.10gb + 1 x 3g.40gb", the largest first.
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
  std::string file;  ///< the source of the configs, for messages
  std::map<std::string, Entries> by_name;
  std::vector<std::string> warnings = {};  ///< keys that the file repeats
};

/// Errors: `invalid` for a violation of the format, with its place.
Result<Configs> read_configs(const nvidia::config::Node& file);
/// Reads a file with the configs, or with a ConfigMap that has one.
Result<Configs> configs_from_yaml(const std::string& text, const std::string& file);

/// Returns the config of that name, or the only one if no name is given. Errors: `not_found`, with the available names.
Result<Entries> select_config(const Configs& configs, const std::string& name);

/// Returns the last entry that matches a GPU. Null: none does, and the GPU stays as it is.
const Entry* entry_for(const Entries& entries, unsigned index, const DeviceId& id);

}  // namespace slipway::mig
