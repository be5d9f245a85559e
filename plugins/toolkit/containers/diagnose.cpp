// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/diagnose.cpp - the findings of doctor about containers that lost their GPU.
#include <array>
#include <map>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "toolkit/containers/loss.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::size_t kNamed = 3;
constexpr const char* kLost = "runtime.lost-gpu";
constexpr const char* kAtRisk = "runtime.gpu-at-risk";
constexpr const char* kContainers = "runtime.containers";

/// In the order of LossCause.
struct Words {
  const char* because;
  const char* remedy;
};
constexpr std::array kWords{
    Words{"the GPU is gone: the driver does not list it, or the PCI bus does not reach it",
          "look at `slipway doctor deviceplugin` and `dmesg | grep -i xid` for what happened to the GPU; reset or "
          "replace "
          "it, then restart these containers"},
    Words{"no NVIDIA driver is loaded any more",
          "run `slipway apply`, which loads it, then restart these containers: their open device files belong to the "
          "former driver"},
    Words{"the host has no such device node any more",
          "run `slipway apply`, which makes the nodes, then restart these containers"},
    Words{"the host's device node was created again with another number, as can happen when the driver is reloaded",
          "run `slipway apply`, so that the CDI specs have the new numbers, then restart these containers"},
    Words{"the node is no longer in the container's /dev",
          "restart these containers; if it happens again, look for what mounts or cleans /dev in them"},
    Words{"the container's configuration does not permit it: NVIDIA's legacy hook adds devices without the runtime's "
          "knowledge, so any program that rewrites the device rules removes them (systemctl daemon-reload, kubelet's "
          "CPU manager, a resize, docker update)",
          "use CDI, so that the runtime knows the devices: the components cdi and runtime in the host spec and "
          "deviceListStrategy cdi-cri for the device plugin, or mode = \"cdi\" in "
          "/etc/nvidia-container-runtime/config.toml; then restart these containers"},
    Words{"the node is mounted into the container, but the container's device rules do not permit it",
          "request the GPU instead of mounting its node: nvidia.com/gpu in a pod, --device nvidia.com/gpu=… for podman "
          "and Docker"},
    Words{"systemd's device list of the container's scope lacks the device, and applies after each `systemctl "
          "daemon-reload`: "
          "runc "
          "1.1.3 to 1.1.6 leaves out devices without a link in /dev/char",
          "run `slipway apply`, which makes the links (component cdi), and install runc 1.1.7 or newer, then restart "
          "these containers"},
    Words{"their device rules refuse it, although the container's configuration permits it: another program has "
          "rewritten the rules",
          "restart these containers; `journalctl -u kubelet -u containerd -u docker` may show what changed the rules"},
    Words{"the driver was replaced while they ran, and the libraries that are mounted into them are of the former "
          "version",
          "restart these containers, which get the libraries of the driver that is loaded"},
    Words{"they request a GPU and did not get it: the runtime class, or the engine, that created them does not support "
          "GPUs",
          "add runtimeClassName: nvidia to their pods, or set deviceListStrategy: cdi-cri for the device plugin and "
          "enable CDI in the engine (`slipway apply` with the component runtime)"}};

const Words& words_of(LossCause cause) { return kWords.at(static_cast<std::size_t>(cause)); }

std::string named(const Loss& loss) { return loss.container + ": " + loss.what; }

/// Returns how a running container with a systemd scope gets the device back without a restart.
std::string without_restart(const Loss& loss) {
  if (loss.scope.empty() || loss.device.empty()) return {};
  return fmt::format("; until then `systemctl set-property --runtime '{}' 'DeviceAllow={} rw'` {} the first of them",
                     loss.scope, loss.device, loss.later ? "keeps it for" : "gives it back to");
}

Finding finding_of(LossCause cause, bool later, const std::vector<Loss>& losses) {
  std::vector<std::string> containers;
  for (const Loss& loss : losses) containers.push_back(named(loss));
  const Words& words = words_of(cause);
  const bool one = losses.size() == 1;
  const std::string who = fmt::format("{} running container{}", losses.size(), one ? "" : "s");
  const std::string list = first_few(containers, kNamed);
  if (later)
    return {Finding::Status::warning, kAtRisk,
            fmt::format("{} will lose a GPU at the next `systemctl daemon-reload` ({}): {}", who, list, words.because),
            words.remedy + without_restart(losses.front())};
  return {Finding::Status::fail, kLost,
          fmt::format("{} cannot reach a GPU that {} given ({}): {}", who, one ? "it was" : "they were", list,
                      words.because),
          words.remedy + without_restart(losses.front())};
}

}  // namespace

void diagnose_containers(const Host& host, const ContainerKernel& kernel, Findings& findings) {
  const RunningContainers running = running_containers(host);
  std::map<std::pair<bool, LossCause>, std::vector<Loss>> by_cause;
  std::vector<std::string> unread;
  for (const RunningContainer& container : running.with_gpus) {
    Losses losses = losses_of(container, host, kernel);
    if (losses.rules_unread) unread.push_back(container.given.name);
    for (Loss& loss : losses.list) by_cause[{loss.later, loss.cause}].push_back(std::move(loss));
  }
  for (const auto& [key, losses] : by_cause) findings.add(finding_of(key.second, key.first, losses));
  std::vector<std::string> skipped;
  if (running.denied) skipped.emplace_back("only root can see containers");
  if (running.unreadable > 0)
    skipped.push_back(fmt::format("the configuration of {} cannot be read", running.unreadable));
  if (running.rootless > 0)
    skipped.push_back(
        fmt::format("{} of other users {} not checked",
                    running.rootless == 1 ? "1 container" : fmt::format("{} containers", running.rootless),
                    running.rootless == 1 ? "is" : "are"));
  if (running.elsewhere > 0)
    skipped.push_back(
        fmt::format("the nodes of {} are not in this machine's files (these run in a virtual machine, as with Kata, or "
                    "with their own kernel, as with gVisor)",
                    running.elsewhere));
  if (running.cut) skipped.push_back(fmt::format("there are more than {} containers", kMostContainers));
  if (!unread.empty()) skipped.push_back("the kernel does not show the device rules of " + first_few(unread, kNamed));
  if (!skipped.empty())
    findings.not_exercised(kContainers,
                           "it is not known whether all containers reach their GPUs: " + joined(skipped, "; "));
}

}  // namespace slipway::toolkit
