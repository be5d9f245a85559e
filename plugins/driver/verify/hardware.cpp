// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/diagnose/diagnose.hpp"
#include "driver/verify/verify.hpp"
#include "nvidia/proc_files.hpp"

namespace slipway::driver {
namespace {

/// Returns the kind of modules that modprobe finds for the target kernel.
std::string used_flavour(const Receipt& receipt, const HostFacts& facts, const Host& host) {
  if (receipt.proprietary.empty()) return receipt.flavour;
  const auto folder =
      host.read_link(fmt::format("{}/modules/{}/updates/slipway", facts.lib_folder, receipt.kernel_release));
  const bool second = folder && folder->find(kProprietaryLayer) != std::string::npos;
  return std::string(nvidia::to_string(second ? nvidia::Flavour::proprietary : nvidia::Flavour::open));
}

void verify_loaded(const std::string& version, const Settings& settings, const HostFacts& facts, const Host& host,
                   Findings& findings) {
  if (!facts.loaded) {
    findings.fail("driver.loaded", "the module nvidia is not loaded",
                  "run `slipway apply`, or `modprobe nvidia` to see why");
    return;
  }
  const std::string used = facts.installed ? used_flavour(*facts.installed, facts, host) : std::string();
  std::vector<std::string> missing;
  for (const auto& module : settings.load)
    if (std::ranges::count(facts.loaded->modules, module) == 0) missing.push_back(module);
  if (facts.loaded->version != version)
    findings.fail("driver.loaded", fmt::format("driver {} is loaded, {} is installed", facts.loaded->version, version),
                  other_driver_remedy(facts) + "; until then programs say `Driver/library version mismatch`");
  else if (facts.installed && facts.loaded->flavour && nvidia::to_string(*facts.loaded->flavour) != used)
    findings.fail("driver.loaded",
                  fmt::format("the {} modules are loaded, the {} ones are installed",
                              nvidia::to_string(*facts.loaded->flavour), used),
                  "run `slipway apply`, which replaces the loaded driver when no process uses it, or reboot");
  else if (!missing.empty())
    findings.fail("driver.loaded", fmt::format("{} not loaded", fmt::join(missing, ", ")), "run `slipway apply`");
  else
    findings.pass("driver.loaded", fmt::format("driver {} is loaded: {}", version, fmt::join(settings.load, ", ")));
}

void verify_nodes(const Settings& settings, const HostFacts& facts, const Host& host, Findings& findings) {
  std::vector<std::string> paths;
  for (const auto& node : nvidia::control_nodes(settings.load)) paths.push_back(node.path);
  for (const unsigned minor : facts.gpu_minors) paths.push_back(nvidia::gpu_node(minor).path);
  std::vector<std::string> wrong;
  for (const auto& path : paths)
    if (const auto opened = host.opens(path); !opened)
      wrong.push_back(fmt::format("{}: {}", path, opened.error().what));
  findings.expect("driver.nodes", wrong.empty(), fmt::format("{} device nodes open", paths.size()),
                  fmt::format("{}", fmt::join(wrong, "; ")), "run `slipway apply`");
}

void verify_gpus(const HostFacts& facts, Findings& findings) {
  if (facts.usable_gpus().empty()) return findings.not_applicable("driver.gpus", "no NVIDIA GPU can be seen");
  std::vector<std::string> wrong;
  for (const auto& gpu : facts.usable_gpus())
    if (gpu.driver != "nvidia")
      wrong.push_back(fmt::format("{} at {} {}", gpu.name, gpu.address,
                                  gpu.driver.empty() ? "has no driver" : "is bound to " + gpu.driver));
  findings.expect("driver.gpus", wrong.empty(), fmt::format("{} GPUs are bound to nvidia", facts.usable_gpus().size()),
                  fmt::format("{}", fmt::join(wrong, "; ")), "look for NVRM lines in `dmesg`");
}

void verify_nouveau(const Settings& settings, const HostFacts& facts, Findings& findings) {
  if (!settings.blacklist_nouveau)
    findings.not_applicable("driver.nouveau", "blacklist_nouveau: false");
  else
    findings.expect("driver.nouveau", facts.kernel_drivers.empty(), "nouveau is not loaded",
                    fmt::format("the kernel's own driver ({}) is loaded", facts.kernel_drivers),
                    "reboot; it is blacklisted from the next boot on");
}

}  // namespace

void verify_hardware(const std::string& driver_version, const Settings& settings, const HostFacts& facts,
                     const Host& host, Findings& findings) {
  // A simulated machine shows GPUs to an offline root, but does not run its kernel.
  std::string why;
  if (!host.live()) why = "the root is not live: a boot loads the modules";
  if (facts.no_gpu_here() && host.hardware() != "assume") why = "no NVIDIA GPU can be seen";
  if (!why.empty()) {
    for (const auto* name : {"driver.loaded", "driver.nodes", "driver.gpus"}) findings.not_applicable(name, why);
    if (facts.kernel_view && host.live())
      verify_nouveau(settings, facts, findings);
    else
      findings.not_applicable("driver.nouveau", why);
    return;
  }
  verify_loaded(driver_version, settings, facts, host, findings);
  check_versions(facts, host, findings);
  verify_nodes(settings, facts, host, findings);
  verify_gpus(facts, findings);
  verify_nouveau(settings, facts, findings);
}

}  // namespace slipway::driver
