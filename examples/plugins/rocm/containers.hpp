// SPDX-License-Identifier: Apache-2.0
// containers.hpp - component rocm-cdi: the CDI spec of amd.com/gpu, and labels for Kubernetes. Their contents are only
// known when amdgpu is loaded, so this is a separate component, which is planned after rocm.
#pragma once

#include <slipway/component.hpp>

namespace rocm {

class Containers final : public slipway::Component {
 public:
  slipway::Result<slipway::Facts> detect(const slipway::Spec& spec, const slipway::Host& host) const override;
  slipway::Result<slipway::Plan> plan(const slipway::Spec& spec, const slipway::Facts& facts,
                                      const slipway::Inputs& inputs) const override;
  slipway::Result<slipway::Findings> verify(const slipway::Spec& spec, const slipway::Host& host) const override;
};

}  // namespace rocm
