// SPDX-License-Identifier: Apache-2.0
// cli/status/status.hpp - `slipway status`: what is provisioned, how it is, and what is to be done next.
#pragma once

#include <ctime>

#include <slipway/json.hpp>

#include "cli/command.hpp"
#include "cli/render/page.hpp"

namespace slipway::core {

/// The document `Status` (cli/render/output.schema.json). Damaged files of the state are gone around and named in it.
/// Errors: those of the state's folder.
Result<Json> status_of(Session& session, const Options& options);

/// The same for people, on one screen. @param now  for ages
Page status_page(const Json& status, std::time_t now);

}  // namespace slipway::core
