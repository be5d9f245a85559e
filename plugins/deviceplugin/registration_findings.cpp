// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <slipway/unix_socket.hpp>

#include "deviceplugin/status.hpp"
#include "nvidia/gpu.hpp"
#include "nvidia/kubelet/checkpoint.hpp"
#include "nvidia/machine/causes.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kStatusFile = "/run/slipway/deviceplugin/status.json";
constexpr const char* kOffers = "deviceplugin.offers";
constexpr const char* kLog = "look at `systemctl status slipway-deviceplugin.service`";
constexpr const char* kAbsentRemedy =
    "look at the kernel's log (`dmesg`) for its address, then drain the node and reboot";
constexpr std::size_t kLargestFile = 16U << 20U;
constexpr std::chrono::milliseconds kLook{50};

/// Adds one finding per GPU, with a remedy for that GPU.
void add_health(const Registered& seen, Findings& findings) {
  constexpr const char* kName = "deviceplugin.health";
  // If no driver answers, that explains all GPUs without an answer.
  const bool no_driver = seen.running && !seen.status->value("problem", "").empty();
  bool healthy = true;
  const Json gpus = seen.status->value("gpus", Json::array());
  for (const Json& gpu : gpus) {
    const Json health = gpu.value("health", Json::object());
    if (health.value("healthy", true)) continue;
    healthy = false;
    const std::string address = gpu.value("address", "");
    // A GPU that only waits recovers by itself: an apply cannot help.
    findings.add({health.value("waits", false) ? Finding::Status::warning : Finding::Status::fail, kName,
                  fmt::format("GPU {} ({}): {}", gpu.value("index", 0), address, health.value("text", "")),
                  health.value("remedy", ""), no_driver ? kOffers : nvidia::gpu_cause(address)});
  }
  for (const Json& absent : seen.status->value("absent", Json::array())) {
    healthy = false;
    findings.fail(kName, absent.value("text", ""), kAbsentRemedy, nvidia::lost_gpu_cause(absent.value("address", "")));
  }
  if (!healthy) return;
  if (!seen.running)
    findings.not_exercised(kName, "the service does not run, so the GPUs are not watched");
  else if (gpus.empty() && seen.gpus_on_bus > 0)
    findings.fail(kName,
                  fmt::format("{} on the PCI bus, but the service sees none of them",
                              seen.gpus_on_bus == 1 ? "1 GPU is" : std::to_string(seen.gpus_on_bus) + " GPUs are"),
                  "see whether the driver shows them (`nvidia-smi -L`)",
                  seen.status->value("problem", "").empty() ? "" : kOffers);
  else
    findings.pass(kName, fmt::format("{} GPUs are healthy", gpus.size()));
}

/// Compares with kubelet's own list if it has one (pod resources, since 1.21), else with its checkpoint.
struct ResourceComparison {
  std::string name;
  bool asked = false;  ///< the list is from kubelet itself, not from its checkpoint
  long offered = 0;
  long has = 0;
};

ResourceComparison compare(const Json& resource, const std::map<std::string, std::vector<std::string>>& devices) {
  ResourceComparison compared{.name = resource.value("name", "")};
  compared.asked = resource.contains("allocatableAtKubelet");
  compared.offered = resource.value(compared.asked ? "healthy" : "ids", 0L);
  const auto found = devices.find(compared.name);
  const long in_checkpoint = found == devices.end() ? 0 : static_cast<long>(found->second.size());
  compared.has = compared.asked ? resource.value("allocatableAtKubelet", 0L) : in_checkpoint;
  return compared;
}

/// Says why a resource is not registered, even if kubelet still has it from before.
std::string why_not_registered(const Json& resource) {
  return resource.value("registered", false) ? std::string() : resource.value("problem", "");
}

/// Says that kubelet had the resource, according to the service or the checkpoint, and does not run now. @return  the
/// reason; empty: this is not the case
std::string kubelet_lost_text(const Json& resource, const Registered& seen) {
  const std::string waits_for = resource.value("waitsFor", "");
  if (resource.value("registered", false) || waits_for.empty()) return {};
  const auto known = seen.devices ? seen.devices->find(resource.value("name", "")) : decltype(seen.devices->end())();
  const bool in_checkpoint = seen.devices && known != seen.devices->end() && !known->second.empty();
  return resource.value("registrations", 0L) > 0 || in_checkpoint ? waits_for : std::string();
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

bool is_quiesced(const Registered& seen) { return seen.running && seen.status && seen.status->value("quiet", false); }

/// True when another look in a moment may show something else.
bool may_change(const Registered& seen) {
  if (is_quiesced(seen)) return true;
  if (!seen.running || !seen.status || !seen.devices || !seen.status->value("settling", false)) return false;
  const Json resources = seen.status->value("resources", Json::array());
  return std::ranges::any_of(resources, [&](const Json& resource) {
    const ResourceComparison compared = compare(resource, *seen.devices);
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
  seen.gpus_on_bus = nvidia::gpus_of_the_driver(host).size();
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
  add_health(seen, findings);
  for (const Json& text : seen.status->value("repartitioned", Json::array()))
    if (seen.running && text.is_string())
      findings.add(
          {Finding::Status::warning, "deviceplugin.mig", text.get<std::string>(), "run `slipway apply`", "mig.layout"});
  if (!seen.running)
    return findings.not_exercised("deviceplugin.registered", "the service does not run, so kubelet is offered no GPU");
  if (const std::string problem = seen.status->value("problem", ""); !problem.empty()) {
    const std::string cause = nvidia::nvml_cause(problem);
    findings.fail(kOffers, problem, cause.empty() ? kLog : "see why the driver does not run (`nvidia-smi`, `dmesg`)",
                  cause);
  }
  if (const std::string yields = seen.status->value("yields", ""); !yields.empty())
    return findings.not_exercised("deviceplugin.registered", yields);
  if (seen.booting)
    return findings.not_exercised("deviceplugin.registered",
                                  "this machine is booting: kubelet may start only after the boot is verified");
  constexpr const char* kNoKubelet = "no kubelet has run on this host yet";
  if (!seen.kubelet) return findings.not_exercised("deviceplugin.registered", kNoKubelet);
  if (is_quiesced(seen))
    return findings.not_exercised("deviceplugin.registered",
                                  "the service is paused while another program changes the GPUs");
  const Json resources = seen.status->value("resources", Json::array());
  for (const Json& resource : resources) {
    if (const std::string why = why_not_registered(resource); !why.empty())
      findings.fail("deviceplugin.registered", resource.value("name", "") + " is not registered with kubelet: " + why,
                    kLog);
    else if (const std::string went = kubelet_lost_text(resource, seen); !went.empty())
      findings.fail("deviceplugin.registered",
                    resource.value("name", "") + " was registered with kubelet, but is no longer: " + went,
                    "see why kubelet does not run (`systemctl status kubelet`), and start it");
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
      findings.pass(kName, fmt::format("{} was registered {} ms after kubelet's socket appeared", name,
                                       resource.value("registeredInMs", 0L)));
    else if (!waits_for.empty())
      findings.not_exercised(kName, name + " waits: " + waits_for);
  }
}

}  // namespace slipway::deviceplugin
