// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/yield_watch.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kLookAtProcesses{60};  // a node has thousands of processes

}  // namespace

void YieldWatch::look(const std::set<std::string>& own, Clock::time_point now) {
  if (!yields_) return;
  auto sockets = host_.list(kubelet_root_ + "/device-plugins").value_or({});
  if (now < next_whole_look_ && sockets == sockets_ && own == own_) return;
  next_whole_look_ = now + kLookAtProcesses;
  sockets_ = std::move(sockets);
  own_ = own;
  const auto others = find_other_plugins(host_, kubelet_root_, {.resources = own});
  yields_to_ = others.empty() ? "" : others.front().text + ", and the GPUs are left to it (other_plugin: yield)";
}

}  // namespace slipway::deviceplugin
