// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/component.hpp - the component cdi: keeps the CDI specs of this machine right.
#pragma once

#include <slipway/component.hpp>

#include "toolkit/cdi/component/tools.hpp"

namespace slipway::toolkit {

class Cdi final : public Component {
 public:
  /// Facts: "specs" (path to text), "nodes" ([{path, major, minor}]), "notes", "lost" (sentences about GPUs), or
  /// "later" (why nothing is written yet), or "problem" (an error object).
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  /// Findings "cdi.specs", "cdi.current", "cdi.paths", "cdi.conflicts", "cdi.links", "cdi.lost".
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// "cdi.lost": GPUs that no container can get.
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  const Commands* commands() const override { return &tools_; }

 private:
  CdiTools tools_;
};

}  // namespace slipway::toolkit
