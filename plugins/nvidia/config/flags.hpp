// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/flags.hpp - the words of single settings, for the file and for the environment.
#pragma once

#include <string>
#include <vector>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// Each sets one value from the node's words. Errors: `invalid`, with the valid words.
Status set_mig_strategy(const Node& node, Settings& settings);
Status set_list_strategies(const Node& node, Settings& settings);
Status set_id_strategy(const Node& node, Settings& settings);
Status set_policy(const Node& node, Settings& settings);
Status set_imex_channels(const Node& node, Settings& settings);
Status set_flag(const Node& node, bool& flag);
Status set_text(const Node& node, std::string& text);
/// Accepts auto or nvml: slipway supports no other method.
Status set_discovery(const Node& node, Settings& settings);
/// Accepts an absolute path that systemd's units can contain.
Status set_mps_root(const Node& node, Settings& settings);

/// Reads timeSlicing or mps, with a list of resources, or the short form `replicas: N` directly below. Errors:
/// `invalid`.
Status take_sharing(const Node& node, Settings& settings);

}  // namespace slipway::nvidia::config
