// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/runtime_component.hpp - the component runtime: container engines that know GPU containers.
#pragma once

#include <slipway/component.hpp>

namespace slipway::toolkit {

class Runtime final : public Component {
 public:
  /// Facts: one object for each engine that is installed ("containerd", "crio", "docker").
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  /// Findings "runtime.ENGINE": the engine's own configuration has what was asked for.
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
};

}  // namespace slipway::toolkit
