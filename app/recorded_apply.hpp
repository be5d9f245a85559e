// SPDX-License-Identifier: Apache-2.0
// app/recorded_apply.hpp - applies that this machine's log keeps (app/history), for `slipway log`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/history/history.hpp"
#include "core/engine/apply/apply.hpp"

namespace slipway::core {

/// What the log says of a change before it begins.
struct ChangeRequest {
  std::string command;                 ///< "apply"
  std::vector<std::string> arguments;  ///< its words that are no options
  std::vector<std::string> only;       ///< the components of --only
  bool boot = false;                   ///< it is a boot's own
  bool image = false;                  ///< the root is an image, although it is this machine's "/"
  std::string log_folder;              ///< where the machine's log is (machine_log_folder())
  std::string version;                 ///< slipway's own
};

/// /var/log/slipway, or $SLIPWAY_LOG_DIR. @param own_environment  that variable does not count
std::string machine_log_folder(bool own_environment);

/// The time that a generation is noted with, RFC 3339: on a machine the clock's, of an image SOURCE_DATE_EPOCH, so that
/// two builds are equal; empty where an image has none.
/// @param image  as in ChangeRequest
Result<std::string> noted_time(const SessionOptions& options, bool image);

/// Makes the change with a line in the log before and after, when the root is this machine's or live; else with one in
/// the root's own (app/image_log.hpp). A log that cannot be written is a warning and changes nothing else.
/// @param spec  the file that it goes by
Result<ApplyResult> recorded(Session& session, const ChangeRequest& request, const std::string& spec,
                             const std::function<Result<ApplyResult>()>& change);

/// The exit code that an apply came to.
int apply_exit_code(const ApplyResult& result);

}  // namespace slipway::core
