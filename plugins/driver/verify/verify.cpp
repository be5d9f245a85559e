// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/verify.hpp"

#include <fmt/format.h>

namespace slipway::driver {
namespace {

void verify_receipt(const Settings& settings, const HostFacts& facts, Findings& findings) {
  const Receipt& receipt = *facts.installed;
  const std::string is =
      fmt::format("driver {} ({}) for kernel {}", receipt.version, receipt.flavour, receipt.kernel_release);
  if (!settings.version.allows(receipt.version))
    findings.fail("driver.installed", fmt::format("{} is installed, the spec asks for {}", is, settings.version.text()),
                  kApply);
  else if (!facts.kernel_release.empty() && facts.kernel_release != receipt.kernel_release)
    findings.fail("driver.installed", fmt::format("{} is installed, and the kernel is {}", is, facts.kernel_release),
                  fmt::format("run `slipway apply --kernel {}`", facts.kernel_release));
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
    verify_hardware(facts.installed->version, settings, facts, host, findings);
  } else if (settings.keep_existing && !facts.existing.empty()) {
    findings.pass("driver.installed", fmt::format("the driver of {} is used as it is", facts.existing.front().what));
    verify_hardware(facts.existing.front().version, settings, facts, host, findings);
  } else {
    findings.fail("driver.installed", "no driver is installed by slipway here", kApply);
  }
  return findings;
}

}  // namespace slipway::driver
