// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/verify.hpp - checks that everything works: the core's records, and each component's own verify().
#pragma once

#include <map>
#include <string>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// The suffix of a finding about a component that has nothing to do on this host: "driver.applies".
inline constexpr std::string_view kApplies = ".applies";

/// The suffix of a finding about things that the next boot will lack: "driver.next-boot". It fails a verify, but not
/// the component that an apply has changed.
inline constexpr std::string_view kNextBoot = ".next-boot";
/// The suffix of a component's finding about devices that do not answer. The other devices can be used.
inline constexpr std::string_view kLost = ".lost";
/// The prefix of the cause of findings about what the machine lacks apart from the component: "machine/NAME".
inline constexpr std::string_view kMachineCause = "machine/";

/// Runs the component's own verify(). Changes nothing.
Result<Findings> verify_component(Session& session, const std::string& name, const Json& section);

struct VerifyOptions {
  std::vector<std::string> only;
  bool deep = false;  ///< hash every file
};

/// Checks for every component of the spec that this root has: its files and settings are unchanged, its service runs,
/// and its verify() passes.
Result<std::map<std::string, Findings>> verify_run(Session& session, const HostSpec& spec,
                                                   const VerifyOptions& options);

}  // namespace slipway::core
