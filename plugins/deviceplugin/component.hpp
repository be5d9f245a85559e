// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/component.hpp - the component deviceplugin: its config, its managers file, and whether kubelet
// has the GPUs.
#pragma once

#include <slipway/commands.hpp>
#include <slipway/component.hpp>

namespace slipway::deviceplugin {

class Tools final : public ToolTable {
 public:
  Tools();
};

class DevicePlugin final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// Adds "deviceplugin.memory": devices shared by time-slicing with hardly any memory left (memory.hpp);
  /// "deviceplugin.sharing": pods that use a GPU in another way than it is offered (conflicts.hpp).
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  const Commands* commands() const override { return &tools_; }

 private:
  Tools tools_;
};

}  // namespace slipway::deviceplugin
