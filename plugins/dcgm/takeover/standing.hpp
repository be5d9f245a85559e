// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/takeover/standing.hpp - whose port it is: what is done about others that have it, and systemd's
// socket.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

namespace slipway::dcgm {

/// What of the settings it depends on.
struct TakeoverSettings {
  std::string address;
  std::uint16_t port = 0;
  bool takes_over = false;      ///< existing_exporter: takeover
  bool systemd_socket = false;  ///< systemd has the port, for the service
  std::string engine = "none";
};

/// Units are facts that stay; processes and the port are those of this moment.
void add_facts(const Host& host, const TakeoverSettings& settings, Facts& facts);

/// Stops and disables the units whose place slipway takes, which removal undoes; else names who is there.
void add_takeover(const TakeoverSettings& settings, const Facts& facts, Plan& plan);

/// The text of slipway-dcgm.socket: systemd listens, and hands the socket to the service.
std::string socket_unit_text(const TakeoverSettings& settings);

/// The unit, and what tells the service's unit of it. systemd starts no socket beside a service that runs, so it is
/// started with the service, when that is restarted.
void add_socket_unit(const TakeoverSettings& settings, Plan& plan);

/// "dcgm.port", "dcgm.exporter" and "dcgm.engine", as far as somebody is in the way.
void add_findings(const Host& host, const TakeoverSettings& settings, Findings& findings);

}  // namespace slipway::dcgm
