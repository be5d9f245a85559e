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

/// Configs for what the GPUs can do, with the names that nvidia-mig-parted gives them: all-disabled, all-enabled,
/// all-balanced, all-1g.10gb, …
struct Generated {
  Configs configs;
  /// Why some are missing: a model without a balanced layout, GPUs that do not tell their profiles.
  std::vector<std::string> notes;
};

/// Errors: `not_found` no GPU is capable of MIG.
Result<Generated> generate_configs(const std::vector<Gpu>& gpus);

/// What the GPUs are now, with as few entries as say it.
Entries present_entries(const std::vector<Gpu>& gpus);

/// As nvidia-mig-parted reads and writes it: the keys of an entry in the order of the format, names as Go's YAML and
/// JSON order them.
std::string to_yaml(const std::map<std::string, Entries>& configs);
/// What the devices of a GPU without MIG are in JSON: upstream's export prints {}, its generate-config null.
enum class NoDevices { object, null };
/// Indented by two, without a line end, as upstream prints it.
std::string to_json_text(const std::map<std::string, Entries>& configs, NoDevices none);

/// Where no GPU can be asked: whether some machine may have a config of that name made from its GPUs.
/// @return what is to be known about it; empty: nothing. Errors: `not_found` none has.
Result<std::string> check_generated_name(const std::string& name);

}  // namespace slipway::mig
