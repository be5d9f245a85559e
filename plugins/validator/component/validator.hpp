// SPDX-License-Identifier: Apache-2.0
// plugins/validator/component/validator.hpp - the component validator: checks, and changes nothing; its service keeps
// the results.
#pragma once

#include <slipway/component.hpp>

namespace slipway::validator {

class Validator final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
};

}  // namespace slipway::validator
