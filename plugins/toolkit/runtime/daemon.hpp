// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/daemon.hpp - the daemon behind a container engine: its program, arguments and unit.
//
// On a live machine the data comes from the process that listens on the engine's socket (unix(7), SO_PEERCRED); without
// one, and in a root that is not live, from the unit files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::toolkit {

struct Daemon {
  std::string program;  ///< absolute
  std::vector<std::string> arguments;
  std::string unit;   ///< "containerd.service"; empty: not in a unit
  std::string place;  ///< "FILE:LINE" of the command in the unit's files; empty: unknown
  std::map<std::string, std::string> environment = {};  ///< variables that the unit sets

  /// Returns the last value of an option, written "--config FILE", "--config=FILE", "-c FILE" or "-c=FILE"; empty if it
  /// is not given.
  std::string option(const std::vector<std::string>& names) const;
  /// Returns all values of an option that may be repeated.
  std::vector<std::string> options(const std::vector<std::string>& names) const;
};

/// True when a socket of this machine accepts connections.
bool socket_answers(const Host& host, const std::string& socket);

/// Returns the process that listens on a socket, if its program has that name: systemd may hold the socket for a
/// daemon. Empty on a host that is not live, or without a listener.
std::optional<Daemon> find_peer(const Host& host, const std::string& socket, const std::string& program);

/// Returns the command of a unit (unit_command.hpp). A variable whose file is missing stays: "${NAME}". Empty when
/// there is no such unit.
std::optional<Daemon> read_unit(const Host& host, const std::string& unit);

/// True when systemd will start the unit later: at a boot, after slipway-boot.service. False without systemd.
bool starts_later(const Host& host, const std::string& unit);

/// Returns the first unit that exists; the first name when none does.
std::string first_unit(const Host& host, const std::vector<std::string>& units);

}  // namespace slipway::toolkit
