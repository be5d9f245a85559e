// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/diagnose/diagnose.hpp"
#include "driver/verify/verify.hpp"

namespace slipway::driver {

void verify_modprobe(const Settings& settings, const HostFacts& facts, Findings& findings) {
  const auto lines = lines_that_prevent_loading(facts, settings.load);
  findings.expect("driver.modprobe", lines.empty(), "no line of modprobe.d keeps a module from being loaded",
                  fmt::format("modules cannot be loaded: {}", fmt::join(lines, "; ")), kDeleteLines);
}

void verify_parameters(const Settings& settings, const HostFacts& facts, Findings& findings) {
  if (facts.loaded_parameters.empty()) return;
  std::vector<std::string> other;
  std::size_t count = 0;
  for (const auto& [module, values] : facts.loaded_parameters)
    for (const auto& [name, is] : values) {
      ++count;
      if (const auto& wanted = settings.parameters.at(module).at(name); !same_value(wanted, is))
        other.push_back(fmt::format("{} is loaded with {}={}, the spec has {}", module, name, is, wanted));
    }
  if (other.empty())
    findings.pass("driver.parameters", fmt::format("{} parameters of loaded modules are as in the spec", count));
  else
    findings.warning("driver.parameters", fmt::format("{}", fmt::join(other, "; ")),
                     "reboot, so that the modules are loaded with the spec's parameters; if they still differ, "
                     "`slipway plan` names the file in modprobe.d that overrides them");
}

}  // namespace slipway::driver
