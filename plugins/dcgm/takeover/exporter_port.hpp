// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/takeover/exporter_port.hpp - the owner of the port: the reaction to other programs that have it, and
// systemd's socket.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

namespace slipway::dcgm {

/// The settings that the takeover depends on.
struct TakeoverSettings {
  std::string address;
  std::uint16_t port = 0;
  bool takes_over = false;      ///< existing_exporter: takeover
  bool systemd_socket = false;  ///< Records installed units, which stay, and processes and the port as they are now.
  std::string engine = "none";
};

/// Stops and disables the units that slipway replaces, which removal undoes; any other program in the way is named in
/// an error or a note.
void add_facts(const Host& host, const TakeoverSettings& settings, Facts& facts);

/// Stops and disables the units that slipway replaces, which removal undoes; otherwise names the other program.
void add_takeover(const TakeoverSettings& settings, const Facts& facts, Plan& plan);

/// Returns the text of slipway-dcgm.socket: systemd listens, and passes the socket to the service.
std::string socket_unit_text(const TakeoverSettings& settings);

/// Adds the socket unit, and the drop-in that connects the service's unit with it. systemd does not start a socket unit
/// while its service runs, so the socket starts when the service is restarted.
void add_socket_unit(const TakeoverSettings& settings, Plan& plan);

/// Adds "dcgm.port", "dcgm.exporter" and "dcgm.engine" if another program is in the way.
void add_findings(const Host& host, const TakeoverSettings& settings, Findings& findings);

}  // namespace slipway::dcgm
