// SPDX-License-Identifier: Apache-2.0
// plugins/mig/config/named_configs.hpp - configs made from the GPUs of this machine, and configs as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "mig/layout/gpu.hpp"
#include "mig/model/config.hpp"

namespace slipway::mig {

/// Configs generated from the GPUs' capabilities, with nvidia-mig-parted's names: all-disabled, all-enabled,
/// all-balanced, all-1g.10gb, …
struct Generated {
  Configs configs;
  /// Explains missing configs: a model without a balanced layout, GPUs that do not report their profiles.
  std::vector<std::string> notes;
};

/// Errors: `not_found` no GPU is capable of MIG.
Result<Generated> generate_configs(const std::vector<Gpu>& gpus);

/// Returns the current state of the GPUs in as few entries as possible.
Entries present_entries(const std::vector<Gpu>& gpus);

/// Writes YAML in nvidia-mig-parted's format: the keys of an entry in the format's order, names in the order of Go's
/// YAML and JSON.
std::string to_yaml(const std::map<std::string, Entries>& configs);
/// The JSON value for the devices of a GPU without MIG: upstream's export prints {}, its generate-config null.
enum class NoDevices { object, null };
/// Indented by two, without a final line end, as upstream prints it.
std::string to_json_text(const std::map<std::string, Entries>& configs, NoDevices none);

/// Checks, without reading a GPU, whether a config of that name can be generated on some machine.
/// @return a remark for the user; empty: none. Errors: `not_found` no machine has such a config.
Result<std::string> check_generated_name(const std::string& name);

}  // namespace slipway::mig
