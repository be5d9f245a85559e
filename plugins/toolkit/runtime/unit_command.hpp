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
  /// Program and arguments, without the prefixes of ExecStart and a leading `env`. Variables of Environment and
  /// EnvironmentFile are expanded. "${NAME}" stays if its EnvironmentFile is missing.
  std::vector<std::string> words;
  std::string place;                               ///< "FILE:LINE" of the ExecStart
  std::map<std::string, std::string> environment;  ///< variables that the unit sets
};

/// Returns a unit's file and drop-ins, in their order of precedence; empty: there is no such unit.
std::vector<std::string> unit_files(const Host& host, const std::string& unit);

/// Returns the last ExecStart. Empty when there is no such unit.
std::optional<UnitCommand> read_unit_command(const Host& host, const std::string& unit);

}  // namespace slipway::toolkit
