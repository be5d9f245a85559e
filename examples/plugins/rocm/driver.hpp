// SPDX-License-Identifier: Apache-2.0
// driver.hpp - component rocm: amdgpu and its options, and who may use its devices.
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
