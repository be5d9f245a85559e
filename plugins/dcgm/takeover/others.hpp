// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/takeover/others.hpp - what else tells of the GPUs on this machine: a dcgm-exporter, a host engine of
// DCGM's, and whoever has the port.
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
  std::string command;  ///< its words with blanks between, cut and cleaned; empty: it cannot be seen
};
/// "dcgm-exporter (pid 812, dcgm-exporter.service, since 2026-11-26 09:12 UTC): /usr/bin/dcgm-exporter -f /etc/a.csv"
std::string to_text(const OtherProcess& other);

/// The numbers of all processes that can be seen, from the lowest on.
std::vector<unsigned> process_numbers(const Host& host);
/// Only the number where nothing of it can be read.
OtherProcess read_other(const Host& host, unsigned pid);

/// Units of that role that the root has, under their own names: those of NVIDIA's packages, of the snap, and of
/// dcgm-exporter's sources.
std::vector<std::string> installed_units(const Host& host, Role role);

/// Processes of that role, by the name that the kernel keeps. In the order of their numbers.
std::vector<OtherProcess> running(const Host& host, Role role);

/// The first unit of that role with processes in its control group; empty: none. A service sees that as well, from
/// which others' processes are hidden.
std::string unit_at_work(const Host& host, Role role);

/// A TCP socket that listens, as /proc/net/tcp and tcp6 list it.
struct Listener {
  std::string address;  ///< "0.0.0.0", "::", "127.0.0.1"
  std::uint32_t uid = 0;
  std::uint64_t inode = 0;
};
/// @param table  text of /proc/net/tcp or tcp6
std::vector<Listener> listeners(std::string_view table, std::uint16_t port);

/// Who keeps others from listening on an address and a port.
struct PortHolder {
  Listener listener;
  std::optional<OtherProcess> process;  ///< nothing: it cannot be seen from here
  bool own = false;                     ///< it belongs to slipway
  std::string suspect;                  ///< where the process cannot be seen: a unit of an exporter that is at work
};
/// "taken by dcgm-exporter (pid 812, …)", or by whom it is as far as can be seen.
std::string to_text(const PortHolder& holder);

/// Nothing: the port is free, or there is no kernel to ask. A listener on every address keeps all others away, and the
/// other way round.
std::optional<PortHolder> port_holder(const Host& host, const std::string& address, std::uint16_t port);

}  // namespace slipway::dcgm
