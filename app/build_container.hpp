// SPDX-License-Identifier: Apache-2.0
// app/build_container.hpp - distinguishes a container in which an image is built from a running machine.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::app {

/// Returns the signs that this is the build of an image, as descriptions for users; empty when it looks like a running
/// machine. A build has no systemd, and may not load kernel modules or has none of the running kernel's. Also empty
/// when mark_container_running() was called since the boot, for this folder and not for a copy of it.
/// @param machine  the folder that is "/" of the machine in question
std::vector<std::string> signs_of_a_build(const std::string& machine);

/// Records the user's answer that this is a running machine: slipway does not ask again until the next boot.
Status mark_container_running(const std::string& machine);

/// Returns the error that asks the user whether "/" is an image or a machine, with these signs.
Error asks_for_image_or_live(const std::vector<std::string>& signs);

}  // namespace slipway::app
