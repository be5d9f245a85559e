// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service_only.hpp - the component of a service's own library (`service: beside`): it has a service and
// nothing else.
#pragma once

#include <slipway/component.hpp>
#include <slipway/service.hpp>

namespace slipway {

class ServiceOnly : public Component {
 public:
  Result<Facts> detect(const Spec&, const Host&) const override { return elsewhere(); }
  Result<Plan> plan(const Spec&, const Facts&, const Inputs&) const override { return elsewhere(); }
  Result<Findings> verify(const Spec&, const Host&) const override { return elsewhere(); }

 private:
  static Error elsewhere() {
    return Error{.code = ErrorCode::unsupported,
                 .what = "this library holds only the service; the rest is in the plugin"};
  }
};

}  // namespace slipway
