// SPDX-License-Identifier: Apache-2.0
// driver.hpp - component rocm: amdgpu with its options, and access to its devices.
#pragma once

#include <slipway/component.hpp>

namespace rocm {

class Driver final : public slipway::Component {
 public:
  slipway::Result<slipway::Facts> detect(const slipway::Spec& spec, const slipway::Host& host) const override;
  slipway::Result<slipway::Plan> plan(const slipway::Spec& spec, const slipway::Facts& facts,
                                      const slipway::Inputs& inputs) const override;
  slipway::Result<slipway::Findings> verify(const slipway::Spec& spec, const slipway::Host& host) const override;
};

}  // namespace rocm
