// SPDX-License-Identifier: Apache-2.0
// app/image_log.hpp - the log of applies to an image, stored in the image. The machine that boots it continues the log
// (app/history).
//
// Equal builds produce equal bytes: an event has the time of SOURCE_DATE_EPOCH or none, and contains nothing about the
// user or the machine of the build.
#pragma once

#include <cstddef>
#include <vector>

#include "core/engine/session.hpp"

namespace slipway::app {

/// The event's kind, which distinguishes it from the events of a machine.
inline constexpr const char* kImageEvent = "image";

/// The maximum number of events read from a root's log: its author may have written any number.
inline constexpr std::size_t kMostEventsRead = 10'000;

/// Adds an event. Once the root has no records any more, removes the log with the folders that were made for it, unless
/// a machine wrote to the log as well.
Status log_in_image(core::Session& session, Json event);

/// Removes the log in the same way, after a command that was interrupted before it could.
Status drop_log_of_removed(core::Session& session);

/// Returns the newest kMostEventsRead events of a root's log, oldest first. The author of the root may have written any
/// content there. Errors: `invalid` too long, or not a regular file; `denied`, `io`.
Result<std::vector<Json>> read_log_of(const RootDir& root);

}  // namespace slipway::app
