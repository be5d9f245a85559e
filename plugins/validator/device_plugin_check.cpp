// SPDX-License-Identifier: Apache-2.0
#include "validator/device_plugin_check.hpp"

#include <fmt/format.h>

#include <slipway/json.hpp>
#include <slipway/text.hpp>
#include <slipway/unix_socket.hpp>

namespace slipway::validator {
namespace {

bool is_ours(const std::string& resource, const std::set<std::string>& named) {
  return resource.starts_with("nvidia.com/gpu") || resource.starts_with("nvidia.com/mig-") || named.contains(resource);
}

/// Returns the names of NVIDIA's sockets, without kubelet's own and those of other vendors.
std::vector<std::string> plugin_sockets(const Host& host, const Kubelet& kubelet) {
  std::vector<std::string> sockets;
  const auto names = host.list(kubelet.device_plugins()).value_or(std::vector<std::string>{});
  for (const std::string& name : names)
    if (name.ends_with(".sock") && (name.starts_with("nvidia") || name.starts_with("slipway"))) sockets.push_back(name);
  return sockets;
}

/// A socket whose program has exited refuses connections; the file stays after a crash.
bool has_listener(const Host& host, const std::string& socket) {
  const auto end = connect_to(host, socket);
  return end || end.error().code == ErrorCode::busy;
}

}  // namespace

std::optional<std::map<std::string, std::int64_t>> registered_devices(const Host& host, const Kubelet& kubelet) {
  const auto text = host.read(kubelet.device_plugins() + "/kubelet_internal_checkpoint", 16U << 20);
  if (!text) return std::nullopt;
  const Json checkpoint = Json::parse(*text, nullptr, false);
  if (!checkpoint.is_object() || !checkpoint.contains("Data") || !checkpoint["Data"].is_object()) return std::nullopt;
  std::map<std::string, std::int64_t> resources;
  const Json registered = checkpoint["Data"].value("RegisteredDevices", Json::object());
  if (!registered.is_object()) return resources;  // null before the first plugin registers
  for (const auto& [resource, devices] : registered.items())
    if (is_ours(resource, kubelet.named) && devices.is_array())
      resources[resource] = static_cast<std::int64_t>(devices.size());
  return resources;
}

std::int64_t device_total(const Host& host, const Kubelet& kubelet) {
  const auto resources = registered_devices(host, kubelet);
  if (!resources) return -1;
  std::int64_t total = 0;
  for (const auto& [resource, count] : *resources) total += count;
  return total;
}

Finding check_device_plugin(const Host& host, const Kubelet& kubelet) {
  if (host.borrows_root() || !host.exists(kubelet.device_plugins()))
    return not_tried(kPluginCheck, "there is no kubelet on this host");
  const auto sockets = plugin_sockets(host, kubelet);
  const auto resources = registered_devices(host, kubelet);
  if (sockets.empty() && (!resources || resources->empty()))
    return not_tried(kPluginCheck, "no device plugin of NVIDIA's has registered with kubelet");
  std::string listening;
  for (const std::string& name : sockets)
    if (listening.empty() && has_listener(host, kubelet.device_plugins() + "/" + name)) listening = name;
  if (listening.empty() && !host.live()) return not_tried(kPluginCheck, "this root is not running");
  if (listening.empty())
    return fails(kPluginCheck, "kubelet knows NVIDIA's devices, but no device plugin runs any more",
                 "start the device plugin again; its log says why it ended");
  if (!resources) return not_tried(kPluginCheck, "no kubelet has run on this host yet");
  std::vector<std::string> counts;
  std::int64_t total = 0;
  for (const auto& [resource, count] : *resources) {
    total += count;
    counts.push_back(fmt::format("{} {}", count, resource));
  }
  if (total == 0)
    return fails(
        kPluginCheck, fmt::format("the device plugin runs ({}), but kubelet has no device of it", listening),
        "look at the plugin's log for unhealthy devices, and restart the plugin if kubelet was restarted after it");
  return passes(kPluginCheck, "kubelet has " + joined(counts));
}

}  // namespace slipway::validator
