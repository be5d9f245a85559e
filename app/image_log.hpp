// SPDX-License-Identifier: Apache-2.0
// app/image_log.hpp - the log that applies to an image leave in it, where the machine that boots it goes on with it
// (app/history).
//
// Equal builds leave equal bytes: an event has the time of SOURCE_DATE_EPOCH or none, and names nobody and nothing of
// the machine that builds.
#pragma once

#include <cstddef>
#include <vector>

#include "core/engine/session.hpp"

namespace slipway::core {

/// The event's kind, by which it is told from those of a machine.
inline constexpr const char* kImageEvent = "image";

/// How many events of a root's log are read: its author may have written any number.
inline constexpr std::size_t kMostEventsRead = 10'000;

/// Adds an event. Once nothing is recorded in the root any more, the log goes, with the folders that were made for it;
/// but one that a machine wrote to as well stays.
Status log_in_image(Session& session, Json event);

/// What log_in_image() does once nothing is recorded any more, for a removal that was cut off before it came to that.
Status drop_log_of_removed(Session& session);

/// The newest kMostEventsRead events of a root's log, oldest first: its author may have written anything there. Errors:
/// `invalid` too long, or no file; `denied`, `io`.
Result<std::vector<Json>> read_log_of(const RootDir& root);

}  // namespace slipway::core
