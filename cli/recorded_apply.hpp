// SPDX-License-Identifier: Apache-2.0
// cli/recorded_apply.hpp - applies that this machine's log keeps (cli/history), for `slipway log`.
#pragma once

#include <functional>
#include <string>

#include "cli/history/history.hpp"
#include "cli/options.hpp"
#include "cli/terminal_ui.hpp"
#include "core/engine/apply/apply.hpp"

namespace slipway::core {

/// The log of the machine that acts: /var/log/slipway, or $SLIPWAY_LOG_DIR where environment_counts().
History machine_history(const Options& options);

/// The time that a generation is noted with, RFC 3339: on a machine the clock's, of an image SOURCE_DATE_EPOCH, so that
/// two builds are equal; empty where an image has none.
Result<std::string> noted_time(const Options& options);

/// Makes the change with a line in the log before and after, when the root is this machine's or live; else with one in
/// the root's own (cli/image_log.hpp). A log that cannot be written is a warning and changes nothing else.
/// @param spec  the file that it goes by
Result<ApplyResult> recorded(Session& session, const Options& options, const std::string& spec,
                             const std::function<Result<ApplyResult>()>& change);

/// The exit code that an apply came to.
int apply_exit_code(const ApplyResult& result);

}  // namespace slipway::core
