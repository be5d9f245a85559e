// SPDX-License-Identifier: Apache-2.0
#include "base/kernels/kernels.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/diagnose/diagnose.hpp"
#include "driver/module/module_info.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kModuleLimit = 256U << 20;
constexpr std::size_t kDepLimit = 64U << 20;

std::vector<std::string> modules_of_others(const Host& host, const std::string& release) {
  const auto dep = host.read(fmt::format("/lib/modules/{}/modules.dep", release), kDepLimit);
  return dep ? driver_modules_in(*dep) : std::vector<std::string>{};
}

bool has_driver(const HostFacts& facts, const Host& host, const std::string& release) {
  if (facts.installed && facts.installed->has_kernel(release)) return true;
  return host.exists(fmt::format("/lib/modules/{}/updates/slipway", release)) ||
         !modules_of_others(host, release).empty();
}

std::string releases_text(const Receipt& receipt) {
  std::vector<std::string> releases;
  for (const auto& kernel : receipt.kernels()) releases.push_back(kernel.release);
  return fmt::format("{}", fmt::join(releases, " and "));
}

/// Adds a finding if modules in the receipt are not where modprobe looks for them.
void check_installed(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!facts.installed || facts.installed->further.empty()) return;
  const auto present = host.installed_kernels();
  for (const auto& kernel : facts.installed->kernels()) {
    if (std::ranges::count(present, kernel.release) == 0) continue;  // that kernel was removed
    if (host.exists(fmt::format("/lib/modules/{}/updates/slipway", kernel.release))) continue;
    findings.fail("driver.kernel", fmt::format("kernel {} has lost its driver modules", kernel.release),
                  "run `slipway apply`");
  }
}

/// Returns how the kernel gets modules, according to the current spec.
std::string remedy_for_kernel(const HostFacts& facts, const std::string& release) {
  constexpr const char* kElse = "make one with `slipway driver build`, or stay on a kernel that has one";
  const auto wanted = facts.kernel_releases();
  if (facts.installed && std::ranges::count(facts.installed->without, release) != 0)
    return fmt::format("there was no package for this kernel: {}; `slipway apply` then uses that package", kElse);
  if (facts.kernels_chosen && std::ranges::count(wanted, release) != 0)
    return fmt::format("run `slipway apply`: the spec has modules for this kernel too; if it has no package, {}",
                       kElse);
  return fmt::format(
      "`slipway plan --kernel {}` says whether there is a package for this kernel. If so, write kernels: all in the "
      "spec's driver section, so that each kernel has its modules, and apply the spec without --kernel; else {}",
      release, kElse);
}

/// @param finding  its name
void check_kernel(const HostFacts& facts, const Host& host, const std::string& release, const std::string& which,
                  const char* finding, Findings& findings) {
  if (release.empty() || has_driver(facts, host, release)) return;
  const std::string have =
      facts.installed ? fmt::format("; slipway's are for {}", releases_text(*facts.installed)) : std::string{};
  findings.fail(finding, fmt::format("{} {} has no driver modules{}", which, release, have),
                remedy_for_kernel(facts, release));
}

// Returns the kernel that the module file was built for; another kernel refuses it with "version magic" or a worse
// error.
std::string built_for(const Host& host, const std::string& path) {
  const auto bytes = host.read(path, kModuleLimit);
  if (!bytes) return {};
  const auto info = read_module_info(*bytes);
  if (!info) return {};
  const auto vermagic = info->find("vermagic");
  return vermagic == info->end() ? std::string{} : vermagic_release(vermagic->second);
}

void check_builds(const Host& host, const std::string& release, Findings& findings) {
  std::vector<std::string> wrong;
  for (const auto& name : modules_of_others(host, release)) {
    const std::string path = fmt::format("/lib/modules/{}/{}", release, name);
    const std::string kernel = built_for(host, path);
    if (!kernel.empty() && kernel != release) wrong.push_back(fmt::format("{} is for {}", path, kernel));
  }
  if (wrong.empty()) return;
  findings.fail("driver.other-kernel", fmt::format("built for another kernel: {}", fmt::join(wrong, "; ")),
                fmt::format("remove these files and run `depmod {}`, or build them again for this kernel", release));
}

}  // namespace

void check_next_boot(const HostFacts& facts, const Host& host, Findings& findings) {
  const std::string next = base::next_boot(host).release;
  if (next != running_kernel(host) && (host.live() || next != facts.kernel.release))
    check_kernel(facts, host, next, "the next boot's kernel", "driver.next-boot", findings);
}

void diagnose_kernels(const HostFacts& facts, const Host& host, Findings& findings) {
  if (facts.no_gpu_here() && !facts.installed) return;
  const std::string running = running_kernel(host);
  check_kernel(facts, host, running, "the running kernel", "driver.kernel", findings);
  check_next_boot(facts, host, findings);
  check_installed(facts, host, findings);
  std::set<std::string> looked_at{facts.kernel.release, running};
  if (facts.installed)
    for (const auto& kernel : facts.installed->further) looked_at.insert(kernel.release);
  for (const auto& release : looked_at)
    if (!release.empty()) check_builds(host, release, findings);
}

}  // namespace slipway::driver
