// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/diagnose/diagnose.hpp"

namespace slipway::driver {
namespace {

void diagnose_both(const HostFacts& facts, Findings& findings) {
  if (!facts.installed || facts.existing.empty()) return;
  std::vector<std::string> found;
  std::vector<std::string> remedies;
  for (const auto& trace : facts.existing) {
    found.push_back(trace.version.empty() || trace.what.find(trace.version) != std::string::npos
                        ? trace.what
                        : fmt::format("{} ({})", trace.what, trace.version));
    if (std::ranges::count(remedies, trace.remove) == 0) remedies.push_back(trace.remove);
  }
  findings.fail("driver.two-drivers",
                fmt::format("there is another driver beside slipway's driver {}: {}", facts.installed->version,
                            fmt::join(found, "; ")),
                fmt::format("keep one of them: {}", fmt::join(remedies, "; ")));
}

std::vector<std::string> dkms_modules(const Host& host, const std::string& release) {
  std::vector<std::string> found;
  const std::string folder = fmt::format("/lib/modules/{}/updates/dkms", release);
  const auto names = host.list(folder).value_or(std::vector<std::string>{});
  for (const auto& name : names)
    if (name.starts_with("nvidia") && !name.starts_with("nvidia-fs")) found.push_back(folder + "/" + name);
  return found;
}

// A tree in /var/lib/dkms counts as another driver. This reports modules without a tree: no tool updates or removes
// them, and modprobe may still load them.
void diagnose_dkms(const HostFacts& facts, const Host& host, Findings& findings) {
  for (const auto& trace : facts.existing)
    if (trace.how == "DKMS") return;
  std::vector<std::string> left;
  const auto kernels = host.installed_kernels();
  for (const auto& release : kernels)
    for (auto& path : dkms_modules(host, release)) left.push_back(std::move(path));
  if (left.empty()) return;
  findings.fail("driver.dkms",
                fmt::format("modules that DKMS built and forgot: {}; modprobe may load them", fmt::join(left, ", ")),
                fmt::format("remove these files, then run `depmod -a` for their kernels"));
}

}  // namespace

void diagnose_other_drivers(const HostFacts& facts, const Host& host, Findings& findings) {
  diagnose_both(facts, findings);
  diagnose_dkms(facts, host, findings);
}

}  // namespace slipway::driver
