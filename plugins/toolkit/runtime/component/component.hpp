// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/component.hpp - the component runtime: container engines that know GPU containers.
#pragma once

#include <slipway/component.hpp>

namespace slipway::toolkit {

class Runtime final : public Component {
 public:
  // With `mode: nri` detect, plan and verify are those of nri_mode.hpp.

  /// Facts: "settings", and one object for each engine that is installed, by its name in `engines`.
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  /// Findings "runtime.ENGINE": the engine's own configuration has what was asked for.
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// Known failures (runtime_diagnose.hpp). Without an engine there are none.
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  /// Custom actions: an engine takes its configuration, and answers (engine_checks.hpp).
  Result<bool> check(const Action& action, const Host& host) const override;
  Result<Outcome> apply(const Action& action, const Host& host) const override;
};

}  // namespace slipway::toolkit
