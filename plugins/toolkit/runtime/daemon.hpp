// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/daemon.hpp - the daemon behind a container engine: which program runs, with what arguments,
// in which unit.
//
// On a live machine the process that listens on the engine's socket says it (unix(7), SO_PEERCRED); where nothing
// listens, and in a root that is not live, the unit files say what would be started.
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
  std::string unit;   ///< "containerd.service"; empty: it belongs to none
  std::string place;  ///< "FILE:LINE" in the unit's files with the command; empty: unknown
  std::map<std::string, std::string> environment = {};  ///< what the unit sets

  /// The value of an option, written "--config FILE", "--config=FILE", "-c FILE" or "-c=FILE", the last time that it is
  /// given; empty where it is not given.
  std::string option(const std::vector<std::string>& names) const;
  /// All values of an option that may be given several times.
  std::vector<std::string> options(const std::vector<std::string>& names) const;
};

/// Something accepts connections on a socket of this machine.
bool socket_answers(const Host& host, const std::string& socket);

/// The process behind a socket, if it is a program of that name: a socket may also be held by systemd for a daemon.
/// Nothing on a host that is not live, or when nobody listens.
std::optional<Daemon> find_peer(const Host& host, const std::string& socket, const std::string& program);

/// What a unit starts (unit_command.hpp). A variable whose file is missing stays: "${NAME}".
/// Nothing when there is no such unit.
std::optional<Daemon> read_unit(const Host& host, const std::string& unit);

/// systemd is about to start the unit: at a boot, behind slipway-boot.service. False where there is no systemd to ask.
bool starts_later(const Host& host, const std::string& unit);

/// The first of the units that there is; the first of all when there is none.
std::string first_unit(const Host& host, const std::vector<std::string>& units);

}  // namespace slipway::toolkit
