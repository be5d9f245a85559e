// SPDX-License-Identifier: Apache-2.0
// app/recorded_apply.hpp - applies that are recorded in this machine's log (app/history), for `slipway log`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/history/history.hpp"
#include "core/engine/apply/apply.hpp"

namespace slipway::app {

/// The data that the log records about a change before it begins.
struct ChangeRequest {
  std::string command;                 ///< "apply"
  std::vector<std::string> arguments;  ///< its words that are not options
  std::vector<std::string> only;       ///< the components of --only
  bool boot = false;                   ///< a boot started it
  bool image = false;                  ///< the root is an image, although it is this machine's "/"
  std::string log_folder;              ///< where the machine's log is (machine_log_folder())
  std::string version;                 ///< the version of slipway
};

/// Returns /var/log/slipway, or $SLIPWAY_LOG_DIR. @param own_environment  ignores that variable
std::string machine_log_folder(bool own_environment);

/// Returns the time to record with a generation, RFC 3339: on a machine the present time, for an image
/// SOURCE_DATE_EPOCH, so that two builds are equal; empty when an image has none.
/// @param image  as in ChangeRequest
Result<std::string> noted_time(const core::SessionOptions& options, bool image);

/// Makes the change and writes a line to the log before and after it, when the root is this machine's or live; else one
/// line to the root's own log (app/image_log.hpp). A log that cannot be written only causes a warning.
/// @param spec  the spec's file
Result<core::ApplyResult> recorded(core::Session& session, const ChangeRequest& request, const std::string& spec,
                                   const std::function<Result<core::ApplyResult>()>& change);

/// Returns this machine's log of the session's root, without other roots' entries.
/// @param log_folder  as in ChangeRequest
std::vector<Json> logged_of_root(const core::Session& session, const std::string& log_folder);

/// Returns the spec file of the last apply, for a root without a generation: as recorded with a component that failed,
/// else from this machine's log if it is readable; "SPEC" when not found.
/// Errors: those of reading the root's state.
Result<std::string> spec_of_last_apply(core::Session& session, const std::string& log_folder);

/// Returns why the newest change of the session's root failed, according to this machine's log: "runtime: it is not
/// TOML". Empty when that change was not an apply or did not fail, and for an image.
std::string failure_of_last_apply(const core::Session& session, const std::string& log_folder);

/// Returns the exit code for the result of an apply.
int apply_exit_code(const core::ApplyResult& result);

}  // namespace slipway::app
