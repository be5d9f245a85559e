// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/takeover/other_exporters.hpp - other programs that report the GPUs of this machine: a dcgm-exporter, a
// DCGM host engine, and the program that has the port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/process/process.hpp"

namespace slipway::dcgm {

enum class Role { exporter, engine };

/// A process and how it was started.
struct OtherProcess {
  nvidia::Process process;
  std::string command;  ///< its arguments joined with blanks, shortened and cleaned; empty: not visible
};
/// "dcgm-exporter (pid 812, dcgm-exporter.service, since 2026-11-26 09:12 UTC): /usr/bin/dcgm-exporter -f /etc/a.csv"
std::string to_text(const OtherProcess& other);

/// Returns the ids of all visible processes, in ascending order.
std::vector<unsigned> process_numbers(const Host& host);
/// Returns only the process id if nothing else can be read.
OtherProcess read_other(const Host& host, unsigned pid);

/// Returns the installed units of that role under their own names: those of NVIDIA's packages, of the snap, and of
/// dcgm-exporter's sources.
std::vector<std::string> installed_units(const Host& host, Role role);

/// Returns the processes of that role, matched by the kernel's process name, in the order of their ids.
std::vector<OtherProcess> running(const Host& host, Role role);

/// Returns the first unit of that role with processes in its control group; empty: none. This also works for a service
/// that cannot see processes of other users.
std::string unit_at_work(const Host& host, Role role);

/// A listening TCP socket, from /proc/net/tcp and tcp6.
struct Listener {
  std::string address;  ///< "0.0.0.0", "::", "127.0.0.1"
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;
};
/// @param table  text of /proc/net/tcp or tcp6
std::vector<Listener> listeners(std::string_view table, std::uint16_t port);

/// A listener that keeps other programs from listening on an address and a port.
struct PortHolder {
  Listener listener;
  std::optional<OtherProcess> process;  ///< empty: not visible from here
  bool own = false;                     ///< the process belongs to slipway
  std::string suspect;                  ///< an active exporter unit, if the process is not visible
};
/// Returns "taken by dcgm-exporter (pid 812, …)", or as much of it as is known.
std::string to_text(const PortHolder& holder);

/// Empty: the port is free, or no kernel is available. A listener on every address blocks each single address, and a
/// listener on one address blocks a listener on every address.
std::optional<PortHolder> port_holder(const Host& host, const std::string& address, std::uint16_t port);

}  // namespace slipway::dcgm
