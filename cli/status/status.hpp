// SPDX-License-Identifier: Apache-2.0
// cli/status/status.hpp - `slipway status`: the applied components, their state, and the next steps.
#pragma once

#include <ctime>

#include <slipway/json.hpp>

#include "cli/command.hpp"
#include "cli/render/page.hpp"

namespace slipway::cli {

/// Returns the document `Status` (cli/render/output.schema.json). Skips damaged files of the state and lists them in
/// the document.
/// Errors: those of the state's folder.
Result<Json> status_of(core::Session& session, const Options& options);

/// The same for users, on one screen. @param now  for ages
Page status_page(const Json& status, std::time_t now);

}  // namespace slipway::cli
