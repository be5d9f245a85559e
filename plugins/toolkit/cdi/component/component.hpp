// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/component.hpp - the component cdi: keeps the CDI specs of this machine up to date.
#pragma once

#include <string>

#include <slipway/component.hpp>

#include "toolkit/cdi/component/settings.hpp"
#include "toolkit/cdi/component/tools.hpp"

namespace slipway::toolkit {

class Cdi final : public Component {
 public:
  /// Facts: "specs" (path to text), "nodes" ([{path, major, minor}]), "notes", "lost" (sentences about GPUs, with the
  /// remedy), or "later" (why nothing is written yet), or "problem" (an error object).
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  /// Findings "cdi.specs", "cdi.current", "cdi.paths", "cdi.conflicts", "cdi.links", "cdi.lost".
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// Adds "cdi.lost": GPUs that containers cannot use.
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  const Commands* commands() const override { return &tools_; }

 private:
  CdiTools tools_;
};

/// Adds the units that refresh the specs: slipway-cdi-refresh.service, which applies cdi alone;
/// slipway-cdi-refresh.path, which starts it on a request, or when files of a driver container or MIG change; and a
/// udev rule that requests it when the driver or a GPU comes or goes.
/// @param program  path of slipway in the units of this root
void plan_refresh_units(const CdiSettings& settings, const std::string& program, Plan& plan);

}  // namespace slipway::toolkit
