// SPDX-License-Identifier: Apache-2.0
#include <slipway/action/triggers.hpp>

#include "dcgm/takeover/exporter_port.hpp"

namespace slipway::dcgm {
namespace {

constexpr const char* kSocket = "slipway-dcgm.socket";
constexpr const char* kDropIn = "/etc/systemd/system/slipway-dcgm.service.d/10-socket.conf";
const std::vector<std::string> kRestart{action::restart("slipway-dcgm.service")};

}  // namespace

std::string socket_unit_text(const TakeoverSettings& settings) {
  const bool v6 = settings.address.find(':') != std::string::npos;
  const std::string address = v6 ? "[" + settings.address + "]" : settings.address;
  return "[Unit]\nDescription=slipway: dcgm, the socket of its metrics\n\n[Socket]\nListenStream=" + address + ":" +
         std::to_string(settings.port) + (settings.address == "::" ? "\nBindIPv6Only=both" : "") +
         "\n\n[Install]\nWantedBy=sockets.target\n";
}

void add_socket_unit(const TakeoverSettings& settings, Plan& plan) {
  plan.add(action::systemd_unit(
               {.name = kSocket, .content = socket_unit_text(settings), .enabled = true, .started = false}))
      .because("systemd listens for the service (systemd_socket)")
      .triggers(kRestart);
  // Sockets= adds Wants= and After= of the socket to the service.
  plan.add(action::file({.path = kDropIn, .content = std::string("[Service]\nSockets=") + kSocket + "\n"}))
      .because("the service gets its socket from systemd")
      .triggers({action::daemon_reload(), kRestart.front()});
}

}  // namespace slipway::dcgm
