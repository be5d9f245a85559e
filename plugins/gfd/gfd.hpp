// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/gfd.hpp - the component gfd: the node labels of GPU Feature Discovery, without its pod, and its tools.
#pragma once

#include <slipway/commands.hpp>
#include <slipway/component.hpp>

#include "gfd/service.hpp"

namespace slipway::gfd {

class Tools final : public ToolTable {
 public:
  Tools();
};

class Gfd final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  const Commands* commands() const override { return &tools_; }
  Service* service() override { return &service_; }

 private:
  Tools tools_;
  LabelService service_;
};

}  // namespace slipway::gfd
