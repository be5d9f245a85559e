// SPDX-License-Identifier: Apache-2.0
// plugins/driver/component/driver.hpp - the component driver: installs the NVIDIA driver from a package.
#pragma once

#include <slipway/commands.hpp>
#include <slipway/component.hpp>

namespace slipway::driver {

/// The tools `slipway driver build` and `slipway driver kernels`.
class DriverTools final : public ToolTable {
 public:
  DriverTools();
};

class Driver final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  Result<bool> check(const Action& action, const Host& host) const override;
  Result<Outcome> preflight(const Action& action, const Host& host) const override;
  Result<Outcome> apply(const Action& action, const Host& host) const override;
  const Commands* commands() const override { return &tools_; }

 private:
  DriverTools tools_;
};

}  // namespace slipway::driver
