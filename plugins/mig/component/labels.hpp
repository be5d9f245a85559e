// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/labels.hpp - the labels of nvidia-mig-manager: nvidia.com/mig.config, the config that a node
// should have, and nvidia.com/mig.config.state, its result.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

namespace slipway::mig {

/// The value of nvidia.com/mig.config in a file of labels: lines KEY=VALUE as node-feature-discovery's feature files
/// have them, or KEY="VALUE" as the downward API writes them; lines that begin with # do not count. Nothing: it is not
/// among them, or empty. Errors: `invalid` a line is not a label, or the label appears twice.
Result<std::optional<std::string>> config_of_labels(std::string_view text, const std::string& file);

/// States of a node in nvidia-mig-manager's label.
namespace state {
inline constexpr const char* kPending = "pending";  ///< a GPU that has to change is in use
inline constexpr const char* kRebooting = "rebooting";
inline constexpr const char* kSuccess = "success";
inline constexpr const char* kFailed = "failed";
}  // namespace state

std::string state_after(const Outcome& outcome);
/// True when that file of the host has the label with that state, and nothing else.
bool has_state(const Host& host, const std::string& file, const std::string& state);
/// Checks that the state may be written to the file. Errors: `conflict` the file has other content, which would be
/// lost.
Status check_state_file(const Host& host, const std::string& file);
/// Errors: those of writing the file.
Status write_state(const Host& host, const std::string& file, const std::string& state);

}  // namespace slipway::mig
