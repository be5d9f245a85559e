// SPDX-License-Identifier: Apache-2.0
// sysctl.hpp - kernel parameters, modules and memory settings that GPU and RDMA jobs need.
#pragma once

#include <slipway/component.hpp>

namespace sysctl {

class Sysctl final : public slipway::Component {
 public:
  slipway::Result<slipway::Facts> detect(const slipway::Spec& spec, const slipway::Host& host) const override;
  slipway::Result<slipway::Plan> plan(const slipway::Spec& spec, const slipway::Facts& facts,
                                      const slipway::Inputs& inputs) const override;
  slipway::Result<slipway::Findings> verify(const slipway::Spec& spec, const slipway::Host& host) const override;
};

}  // namespace sysctl
