// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/unix_socket.hpp>

#include "nvidia/process/process.hpp"

namespace slipway::nvidia {
namespace {

constexpr int kMostAncestors = 64;

/// Returns the process that listens on a control socket; it comes from the kernel, so that no process can fake it by
/// its name.
std::optional<unsigned> listener(const Host& host, const std::string& socket) {
  const auto connected = connect_to(host, socket);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!connected || ::getsockopt(connected->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 1)
    return std::nullopt;
  return static_cast<unsigned>(peer.pid);
}

std::optional<ProcessStat> stat_of(const Host& host, unsigned pid) {
  const auto text = host.read("/proc/" + std::to_string(pid) + "/stat", 16384);
  return text ? parse_process_stat(*text) : std::nullopt;
}

}  // namespace

OwnProcesses::OwnProcesses(const Host& host) : host_(host) {
  roots_.insert(static_cast<unsigned>(::getpid()));
  // A worker's parent is the apply; a tool's may be a shell, whose other children do not belong to slipway.
  const auto parent = static_cast<unsigned>(::getppid());
  if (stat_of(host, parent).value_or(ProcessStat()).name.starts_with("slipway")) roots_.insert(parent);
  const auto names = host.list(kControlFolder);
  if (!names) return;
  for (const std::string& name : *names)
    if (name.ends_with(".sock"))
      if (const auto pid = listener(host, std::string(kControlFolder) + "/" + name)) roots_.insert(*pid);
}

bool OwnProcesses::contains(unsigned pid) const {
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    if (roots_.contains(pid)) return true;
    const auto stat = stat_of(host_, pid);
    if (!stat) return false;
    pid = stat->parent;
  }
  return false;
}

}  // namespace slipway::nvidia
