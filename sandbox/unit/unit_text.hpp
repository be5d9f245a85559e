// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/unit_text.hpp - the text of slipway's systemd units, which grant each service only the access that it
// declares.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::sandbox {

struct ServiceUnit {
  std::string component;
  std::string purpose;                   ///< the component's, for Description=
  std::string program;                   ///< path of slipway on the running machine
  bool waits_for_device = false;         ///< it is skipped on a machine without its device
  Json needs;                            ///< `service_needs` of its manifest (docs/manifest.md)
  Json section;                          ///< the section of the spec, for the paths that `needs` takes from it
  std::vector<std::string> before = {};  ///< units that start once it is ready
};

/// Returns slipway-COMPONENT.service. The service has only the access that its manifest declares: otherwise no
/// capabilities, no devices except null, zero, random and similar, no network, and no writable file except below
/// /run/slipway.
std::string service_unit_text(const ServiceUnit& unit);

/// Returns slipway-boot.service: an apply, which loads modules and changes files everywhere, so it keeps the access for
/// that.
/// @param before  "Before=…" lines
std::string boot_unit_text(const std::string& program, const std::string& before);

/// Returns slipway-verify.service: a verify of the boot's result, once these units have started. It passes, or fails
/// for this boot; no condition skips it.
/// @param first  the one that comes with slipway itself, for a boot before the first apply
/// @param gates  boot-complete.target requires it: a boot counts as good only when it passes
std::string verify_unit_text(const std::string& program, const std::vector<std::string>& after, bool first = false,
                             bool gates = false);

/// Returns slipway-verify-late.service: a verify of everything, when a container engine or kubelet has started.
/// @param engines  their units, at least one
std::string late_verify_unit_text(const std::string& program, const std::vector<std::string>& services,
                                  const std::vector<std::string>& engines);

/// Returns slipway-ready.target: reached when slipway-verify.service has passed.
std::string ready_target_text();

/// Returns the folders for the entries of `needs`. "{KEY}" is replaced by the text of a key of the section, "{A.B}" by
/// that of a key inside its key A; of alternatives ("{KEY}/.. or /etc/x") the first one is used whose keys are all
/// present. Results that are not absolute paths are left out.
std::vector<std::string> needed_paths(const Json& entries, const Json& section);

/// Returns the folders that the service may write to: slipway's own below /run, and those of `writes`.
std::vector<std::string> written_folders(const Json& needs, const Json& section);

/// Errors: `invalid`, naming the key of the section: a path that `needs` takes from there has a control character,
/// which a line of a unit must not contain.
Status expect_plain_paths(const std::string& component, const Json& needs, const Json& section);

}  // namespace slipway::sandbox
