// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/unit_command.hpp - the command that a systemd unit starts, from its file and drop-ins as
// systemd reads them (systemd.unit(5), systemd.service(5), systemd.exec(5)).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::toolkit {

struct UnitCommand {
  /// Program and arguments, without the prefixes of ExecStart and without `env` in front. Variables of Environment and
  /// EnvironmentFile are filled in. "${NAME}" stays where its EnvironmentFile is missing.
  std::vector<std::string> words;
  std::string place;                               ///< "FILE:LINE" of the ExecStart
  std::map<std::string, std::string> environment;  ///< that the unit sets
};

/// The file of a unit and its drop-ins, in the order in which they count; empty: there is no such unit.
std::vector<std::string> unit_files(const Host& host, const std::string& unit);

/// The last ExecStart. Nothing when there is no such unit.
std::optional<UnitCommand> read_unit_command(const Host& host, const std::string& unit);

}  // namespace slipway::toolkit
