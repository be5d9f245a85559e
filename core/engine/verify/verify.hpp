// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/verify.hpp - is it really working? What the core holds, and what each component says.
#pragma once

#include <map>
#include <string>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// The end of the name of a finding about a component that has nothing to do on this host: "driver.applies".
inline constexpr std::string_view kApplies = ".applies";

/// The end of the name of a finding about what the next boot will lack: "driver.next-boot". It fails a verify, and what
/// an apply has changed works all the same.
inline constexpr std::string_view kNextBoot = ".next-boot";
/// The end of the name of a component's finding about devices that do not answer. The others can be used.
inline constexpr std::string_view kLost = ".lost";
/// The beginning of the cause of findings about what the machine lacks beside the component: "machine/NAME".
inline constexpr std::string_view kMachineCause = "machine/";

/// The component's own verify(). Changes nothing.
Result<Findings> verify_component(Session& session, const std::string& name, const Json& section);

struct VerifyOptions {
  std::vector<std::string> only;
  bool deep = false;  ///< hash every file
};

/// For every component of the spec that this root has: that what it owns is as it was left, that its service runs, then
/// verify().
Result<std::map<std::string, Findings>> verify_run(Session& session, const HostSpec& spec,
                                                   const VerifyOptions& options);

}  // namespace slipway::core
