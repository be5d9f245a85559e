// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/component.hpp - the component mig: gives the GPUs the MIG layouts of a named config.
#pragma once

#include <slipway/component.hpp>

#include "mig/tools/tools.hpp"

namespace slipway::mig {

class Mig final : public Component {
 public:
  /// Facts: "gpus" (modes, profiles, instances), "elsewhere" and "lost" (GPUs that NVML does not show), "held" (users
  /// of instances that have to change), "clients", "yields", "file" (text of the config file), or "later" (why no GPU
  /// can be asked here), or "problem" (an error object).
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  Result<bool> check(const Action& action, const Host& host) const override;
  Result<Outcome> preflight(const Action& action, const Host& host) const override;
  Result<Outcome> apply(const Action& action, const Host& host) const override;
  /// Findings "mig.layout", "mig.reset".
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// Returns the findings of diagnose_gpus() and the other functions in diagnose/, and "mig.in-use".
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  const Commands* commands() const override { return &tools_; }

 private:
  MigTools tools_;
};

}  // namespace slipway::mig
