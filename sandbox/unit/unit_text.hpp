// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/unit_text.hpp - the text of slipway's systemd units, which shut each service in with what it declares to
// need.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

struct ServiceUnit {
  std::string component;
  std::string purpose;                   ///< of the component, for Description=
  std::string program;                   ///< slipway, as the running machine sees it
  bool waits_for_device = false;         ///< it is passed over on a machine without its device
  Json needs;                            ///< `service_needs` of its manifest (docs/manifest.md)
  Json section;                          ///< of the spec, for the paths that `needs` takes from there
  std::vector<std::string> before = {};  ///< units that start once it is ready
};

/// slipway-COMPONENT.service. What its manifest does not declare, the service has not: no capabilities, no devices but
/// null, zero, random and the like, no network, no file that it can write but those below /run/slipway.
std::string service_unit_text(const ServiceUnit& unit);

/// slipway-boot.service: an apply, which loads modules and changes files everywhere, so that it keeps what that needs.
/// @param before  "Before=…" lines
std::string boot_unit_text(const std::string& program, const std::string& before);

/// slipway-verify.service: a verify of what the boot has made, once these units have started. It passes, or fails for
/// this boot; no condition passes it over.
/// @param first  the one that comes with slipway itself, for a boot before anything is applied
std::string verify_unit_text(const std::string& program, const std::vector<std::string>& after, bool first = false);

/// slipway-verify-late.service: a verify of all, when a container engine or kubelet has started.
/// @param engines  their units, at least one
std::string late_verify_unit_text(const std::string& program, const std::vector<std::string>& services,
                                  const std::vector<std::string>& engines);

/// slipway-ready.target: reached when slipway-verify.service has passed.
std::string ready_target_text();

/// The folders that entries of `needs` stand for. "{KEY}" is the text of a key of the section, "{A.B}" of a key inside
/// its key A; of alternatives ("{KEY}/.. or /etc/x") the first counts whose keys are all given. What is no absolute
/// path then is left out.
std::vector<std::string> needed_paths(const Json& entries, const Json& section);

/// The folders that the service may write to: slipway's own below /run, and those of `writes`.
std::vector<std::string> written_folders(const Json& needs, const Json& section);

/// Errors: `invalid`, naming the key of the section: a path that `needs` takes from there has a control character,
/// which no line of a unit can have.
Status expect_plain_paths(const std::string& component, const Json& needs, const Json& section);

}  // namespace slipway::core
