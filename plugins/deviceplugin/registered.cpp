// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <slipway/unix_socket.hpp>

#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kStatusFile = "/run/slipway/deviceplugin/status.json";
constexpr const char* kLog = "look at `systemctl status slipway-deviceplugin.service`";
constexpr std::size_t kLargestFile = 16U << 20U;

void add_health(const Json& status, bool running, Findings& findings) {
  std::string sick;
  std::string remedy;
  std::size_t count = 0;
  const Json gpus = status.value("gpus", Json::array());
  for (const Json& gpu : gpus) {
    const Json health = gpu.value("health", Json::object());
    ++count;
    if (health.value("healthy", true)) continue;
    sick += fmt::format("{}GPU {} ({}): {}", sick.empty() ? "" : "; ", gpu.value("index", 0), gpu.value("address", ""),
                        health.value("text", ""));
    remedy = health.value("remedy", "");
  }
  if (!sick.empty())
    findings.fail("deviceplugin.health", sick, remedy);
  else if (running)
    findings.pass("deviceplugin.health", fmt::format("{} GPUs are healthy", count));
  else
    findings.not_exercised("deviceplugin.health", "the service does not run, so nobody watches the GPUs");
}

/// What kubelet itself says where it does (pod resources, since 1.21), else what its checkpoint holds.
void add_resource(const Json& resource, const std::map<std::string, long>& devices, Findings& findings) {
  const std::string name = resource.value("name", "");
  const std::string problem = resource.value("problem", "");
  const bool asked = resource.contains("allocatableAtKubelet");
  const long offered = resource.value(asked ? "healthy" : "ids", 0L);
  const auto found = devices.find(name);
  const long in_checkpoint = found == devices.end() ? 0 : found->second;
  const long has = asked ? resource.value("allocatableAtKubelet", 0L) : in_checkpoint;
  if (has == offered)
    return findings.pass("deviceplugin.registered",
                         fmt::format("kubelet has {} {}{}", has, asked ? "allocatable " : "", name));
  findings.fail(
      "deviceplugin.registered",
      fmt::format("{} {} are offered and kubelet has {}{}", offered, name, has, problem.empty() ? "" : ": " + problem),
      kLog);
}

}  // namespace

Registered read_registered(const Host& host, const std::string& kubelet_root) {
  Registered seen;
  seen.running = service_runs(host, "deviceplugin");
  const std::string folder = kubelet_root + "/device-plugins";
  seen.kubelet = host.exists(folder);
  if (const auto text = host.read(kStatusFile, kLargestFile)) {
    Json status = Json::parse(*text, nullptr, false);
    if (status.is_object()) seen.status = std::move(status);
  }
  const auto text = host.read(folder + "/kubelet_internal_checkpoint", kLargestFile);
  if (!text) return seen;
  const Json checkpoint = Json::parse(*text, nullptr, false);
  const Json data = checkpoint.is_object() ? checkpoint.value("Data", Json()) : Json();
  if (!data.is_object()) return seen;
  seen.devices.emplace();
  const Json registered = data.value("RegisteredDevices", Json());
  if (!registered.is_object()) return seen;  // null before the first plugin
  for (const auto& [name, ids] : registered.items())
    if (ids.is_array()) (*seen.devices)[name] = static_cast<long>(ids.size());
  return seen;
}

void add_findings(const Registered& seen, Findings& findings) {
  if (!seen.status) {
    findings.not_exercised("deviceplugin.health", "the service has not run on this host since it booted");
    return;
  }
  add_health(*seen.status, seen.running, findings);
  if (!seen.running)
    return findings.not_exercised("deviceplugin.registered", "the service does not run, so kubelet is offered no GPU");
  if (const std::string problem = seen.status->value("problem", ""); !problem.empty())
    findings.fail("deviceplugin.offers", problem, kLog);
  if (!seen.kubelet || !seen.devices)
    return findings.not_exercised("deviceplugin.registered", "no kubelet has run on this host yet");
  const Json resources = seen.status->value("resources", Json::array());
  for (const Json& resource : resources) add_resource(resource, *seen.devices, findings);
}

}  // namespace slipway::deviceplugin
