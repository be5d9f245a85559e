// SPDX-License-Identifier: Apache-2.0
// core/engine/shown_build.hpp - a compilation whose lines and files the user sees.
#pragma once

#include "core/engine/ui.hpp"
#include "sandbox/build.hpp"

namespace slipway::core {

/// run_build(), with the compiler's lines as debug lines of the log, and the file that is compiled as progress. A
/// signal that asks to stop ends it: stop_requested().
Status run_build_shown(BuildRequest request, Ui& ui, const Subject& about);

}  // namespace slipway::core
