// SPDX-License-Identifier: Apache-2.0
// core/engine/shown_build.hpp - compiles while showing the compiler's lines and files to the user.
#pragma once

#include "core/engine/ui.hpp"
#include "sandbox/build.hpp"

namespace slipway::core {

/// Calls run_build(). Writes the compiler's lines to the log at level debug, and shows the file being compiled as
/// progress. A stop signal ends it: check_not_stopped().
Status run_build_shown(sandbox::BuildRequest request, Ui& ui, const Subject& about);

}  // namespace slipway::core
