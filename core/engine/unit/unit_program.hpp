// SPDX-License-Identifier: Apache-2.0
// core/engine/unit/unit_program.hpp - the path of slipway that units in a root name.
#pragma once

#include <string>

#include "core/engine/session.hpp"

namespace slipway::core {

/// Inside the root. A portable folder that lies in the root names itself; everything else the place where slipway is
/// installed by its package, which need not be there (yet).
std::string unit_program(const Session& session);

/// The same by hand. @param prefix  the folder that the running slipway is in
std::string unit_program_in(const std::string& root, const std::string& prefix, bool portable);

/// A path as a word of a unit's command line (systemd.service(5), systemd.unit(5)).
std::string unit_word(const std::string& path);

/// The lines of a [Unit] section that pass the unit over, without a failure, once slipway is no longer installed.
std::string unit_while_installed(const std::string& program);

}  // namespace slipway::core
