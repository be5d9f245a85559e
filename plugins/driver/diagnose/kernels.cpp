// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/detect/kernel_release.hpp"
#include "driver/detect/module_info.hpp"
#include "driver/diagnose/diagnose.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kModuleLimit = 256U << 20;
constexpr std::size_t kDepLimit = 64U << 20;

std::vector<std::string> modules_of_others(const Host& host, const std::string& release) {
  const auto dep = host.read(fmt::format("/lib/modules/{}/modules.dep", release), kDepLimit);
  return dep ? driver_modules_in(*dep) : std::vector<std::string>{};
}

bool has_driver(const HostFacts& facts, const Host& host, const std::string& release) {
  if (facts.installed && facts.installed->kernel_release == release) return true;
  return host.exists(fmt::format("/lib/modules/{}/updates/slipway", release)) ||
         !modules_of_others(host, release).empty();
}

// Debian's and SUSE's links name it; elsewhere the newest is taken, as boot loaders do.
std::string next_kernel(const Host& host) {
  for (const char* link : {"/vmlinuz", "/boot/vmlinuz"})
    if (const auto target = host.read_link(link)) {
      const std::size_t name = target->rfind("vmlinuz-");
      if (name != std::string::npos) return target->substr(name + 8);
    }
  auto kernels = host.installed_kernels();
  if (kernels.empty()) return {};
  return *std::ranges::max_element(kernels, {}, [](const std::string& release) { return kernel_key(release); });
}

void check_kernel(const HostFacts& facts, const Host& host, const std::string& release, const std::string& which,
                  Findings& findings) {
  if (release.empty() || has_driver(facts, host, release)) return;
  const std::string have =
      facts.installed ? fmt::format("; slipway's are for {}", facts.installed->kernel_release) : std::string{};
  findings.fail("driver.kernel", fmt::format("{} {} has no driver modules{}", which, release, have),
                fmt::format("`slipway plan --kernel {0}` says whether there is a package for it; if so run `slipway "
                            "apply --kernel {0}`, else make one with `slipway driver build`, or stay on a kernel that "
                            "has one",
                            release));
}

// As the file says; a module of another kernel is refused with "version magic" or worse.
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
                fmt::format("remove these files and run `depmod {}`, or build them anew for this kernel", release));
}

}  // namespace

void diagnose_kernels(const HostFacts& facts, const Host& host, Findings& findings) {
  if (facts.no_gpu_here() && !facts.installed) return;
  const std::string next = next_kernel(host);
  if (host.live()) check_kernel(facts, host, facts.kernel_release, "the running kernel", findings);
  if (next != facts.kernel_release) check_kernel(facts, host, next, "the next boot's kernel", findings);
  if (!facts.kernel_release.empty()) check_builds(host, facts.kernel_release, findings);
}

}  // namespace slipway::driver
