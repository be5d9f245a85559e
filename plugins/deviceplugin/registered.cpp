// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <slipway/unix_socket.hpp>

#include "deviceplugin/status.hpp"
#include "nvidia/kubelet/checkpoint.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kStatusFile = "/run/slipway/deviceplugin/status.json";
constexpr const char* kLog = "look at `systemctl status slipway-deviceplugin.service`";
constexpr std::size_t kLargestFile = 16U << 20U;
constexpr std::chrono::milliseconds kLook{50};

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
struct Compared {
  std::string name;
  bool asked = false;  ///< kubelet itself, not its checkpoint
  long offered = 0;
  long has = 0;
};

Compared compare(const Json& resource, const std::map<std::string, std::vector<std::string>>& devices) {
  Compared compared{.name = resource.value("name", "")};
  compared.asked = resource.contains("allocatableAtKubelet");
  compared.offered = resource.value(compared.asked ? "healthy" : "ids", 0L);
  const auto found = devices.find(compared.name);
  const long in_checkpoint = found == devices.end() ? 0 : static_cast<long>(found->second.size());
  compared.has = compared.asked ? resource.value("allocatableAtKubelet", 0L) : in_checkpoint;
  return compared;
}

/// What keeps a resource from being registered, whatever kubelet still has of it from before.
std::string why_not_registered(const Json& resource) {
  return resource.value("registered", false) ? std::string() : resource.value("problem", "");
}

void add_resource(const Json& resource, const std::map<std::string, std::vector<std::string>>& devices,
                  Findings& findings) {
  const auto [name, asked, offered, has] = compare(resource, devices);
  std::string problem = resource.value("problem", "");
  if (problem.empty()) problem = resource.value("waitsFor", "");
  if (has == offered)
    return findings.pass("deviceplugin.registered",
                         fmt::format("kubelet has {} {}{}", has, asked ? "allocatable " : "", name));
  findings.fail(
      "deviceplugin.registered",
      fmt::format("{} {} are offered and kubelet has {}{}", offered, name, has, problem.empty() ? "" : ": " + problem),
      kLog);
}

bool is_quiet(const Registered& seen) { return seen.running && seen.status && seen.status->value("quiet", false); }

/// Whether another look in a moment may show something else.
bool may_change(const Registered& seen) {
  if (is_quiet(seen)) return true;
  if (!seen.running || !seen.status || !seen.devices || !seen.status->value("settling", false)) return false;
  const Json resources = seen.status->value("resources", Json::array());
  return std::ranges::any_of(resources, [&](const Json& resource) {
    const Compared compared = compare(resource, *seen.devices);
    return compared.has != compared.offered;
  });
}

}  // namespace

Registered read_registered(const Host& host, const std::string& kubelet_root) {
  Registered seen;
  seen.running = service_runs(host, "deviceplugin");
  seen.booting = host.booting();
  const std::string folder = kubelet_root + "/device-plugins";
  seen.kubelet = host.exists(folder);
  if (const auto text = host.read(kStatusFile, kLargestFile)) {
    Json status = Json::parse(*text, nullptr, false);
    if (status.is_object()) seen.status = std::move(status);
  }
  if (auto checkpoint = nvidia::kubelet::read_checkpoint(host, nvidia::kubelet::checkpoint_file(kubelet_root)))
    seen.devices = std::move(checkpoint->registered);
  return seen;
}

Registered wait_for_kubelet(const Host& host, const std::string& kubelet_root, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;; std::this_thread::sleep_for(kLook)) {
    Registered seen = read_registered(host, kubelet_root);
    if (!may_change(seen) || std::chrono::steady_clock::now() >= end) return seen;
  }
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
  if (const std::string yields = seen.status->value("yields", ""); !yields.empty())
    return findings.not_exercised("deviceplugin.registered", yields);
  if (seen.booting)
    return findings.not_exercised("deviceplugin.registered", "kubelet may start once this boot is verified");
  constexpr const char* kNoKubelet = "no kubelet has run on this host yet";
  if (!seen.kubelet) return findings.not_exercised("deviceplugin.registered", kNoKubelet);
  if (is_quiet(seen))
    return findings.not_exercised("deviceplugin.registered",
                                  "the service stands still while somebody changes the GPUs");
  const Json resources = seen.status->value("resources", Json::array());
  for (const Json& resource : resources) {
    if (const std::string why = why_not_registered(resource); !why.empty())
      findings.fail("deviceplugin.registered", resource.value("name", "") + " is not registered with kubelet: " + why,
                    kLog);
    else if (seen.devices)
      add_resource(resource, *seen.devices, findings);
    else
      return findings.not_exercised("deviceplugin.registered", kNoKubelet);
  }
}

std::set<std::string> offered_since_boot(const Json& status) {
  std::set<std::string> names;
  const Json resources = status.value("resources", Json::array());
  for (const Json& resource : resources)
    if (resource.is_object()) names.insert(resource.value("name", ""));
  const Json former = status.value("formerResources", Json::array());
  for (const Json& name : former)
    if (name.is_string()) names.insert(name.get<std::string>());
  return names;
}

void add_registration_findings(const Registered& seen, Findings& findings) {
  if (!seen.running || !seen.status) return;
  constexpr const char* kName = "deviceplugin.registration";
  const Json resources = seen.status->value("resources", Json::array());
  for (const Json& resource : resources) {
    const std::string name = resource.value("name", "");
    const std::string waits_for = resource.value("waitsFor", "");
    if (resource.contains("registeredInMs"))
      findings.pass(kName, fmt::format("{} was registered {} ms after kubelet's socket was there", name,
                                       resource.value("registeredInMs", 0L)));
    else if (!waits_for.empty())
      findings.not_exercised(kName, name + " waits: " + waits_for);
  }
}

}  // namespace slipway::deviceplugin
