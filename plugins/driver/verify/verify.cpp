// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/verify.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/diagnose/diagnose.hpp"

namespace slipway::driver {
namespace {

/// Returns kernels without the modules that they should have; a kernel without a package counts only if that is an
/// error.
std::vector<std::string> kernels_without_modules(const Settings& settings, const HostFacts& facts) {
  const Receipt& receipt = *facts.installed;
  std::vector<std::string> missing = facts.kernel_releases();
  std::erase_if(missing, [&](const std::string& release) {
    const bool may_lack = settings.note_missing_package || std::ranges::count(facts.followed_kernels, release) != 0;
    const bool is_allowed = may_lack && std::ranges::count(receipt.without, release) != 0;
    return is_allowed || receipt.has_kernel(release);
  });
  return missing;
}

void verify_receipt(const Settings& settings, const HostFacts& facts, Findings& findings) {
  const Receipt& receipt = *facts.installed;
  const std::string is =
      fmt::format("driver {} ({}) for {}", receipt.version, receipt.flavours_text(), receipt.kernels_text());
  const auto missing = kernels_without_modules(settings, facts);
  if (!settings.version.allows(receipt.version))
    findings.fail("driver.installed", fmt::format("{} is installed, the spec asks for {}", is, settings.version.text()),
                  settings.drain.policy == nvidia::drain::Policy::next_boot
                      ? "reboot: the drain policy next-boot leaves the change to slipway-boot.service"
                      : kApply);
  else if (!missing.empty() && !facts.kernels_chosen)
    findings.fail("driver.installed", fmt::format("{} is installed, and the kernel is {}", is, missing.front()),
                  fmt::format("run `slipway apply --kernel {}`", missing.front()));
  else if (!missing.empty())
    findings.fail("driver.installed",
                  fmt::format("{} is installed, and there are no modules for {}", is, fmt::join(missing, " and ")),
                  kApply);
  else if (!facts.running_kernel.empty() && !receipt.has_kernel(facts.running_kernel))
    findings.fail("driver.installed", fmt::format("{} is installed, and kernel {} runs", is, facts.running_kernel),
                  fmt::format("boot kernel {}", receipt.kernel_release));
  else if (!receipt.without.empty())
    findings.pass("driver.installed",
                  fmt::format("{} is installed; {} had no package", is, fmt::join(receipt.without, " and ")));
  else
    findings.pass("driver.installed", is + " is installed");
}

}  // namespace

Findings verify_driver(const Settings& settings, const HostFacts& facts, const Host& host) {
  Findings findings;
  if (facts.installed) {
    verify_receipt(settings, facts, findings);
    verify_files(*facts.installed, facts, host, findings);
    verify_modules(*facts.installed, facts, host, findings);
    check_next_boot(facts, host, findings);
    verify_modprobe(settings, facts, findings);
    verify_hardware(facts.installed->version, settings, facts, host, findings);
    verify_parameters(settings, facts, findings);
    check_fabric_manager(facts, host, findings);
  } else if (settings.keep_existing && !facts.existing.empty()) {
    findings.pass("driver.installed", fmt::format("the driver of {} is used as it is", facts.existing.front().what));
    check_next_boot(facts, host, findings);
    verify_modprobe(settings, facts, findings);
    verify_hardware(facts.existing.front().version, settings, facts, host, findings);
    check_fabric_manager(facts, host, findings);
  } else {
    findings.fail("driver.installed", "no driver is installed by slipway here", kApply);
  }
  return findings;
}

}  // namespace slipway::driver
