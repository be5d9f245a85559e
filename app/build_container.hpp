// SPDX-License-Identifier: Apache-2.0
// app/build_container.hpp - tells a container in which an image is built from a machine that runs.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::core {

/// What speaks for this being the build of an image, in words for people; empty: it looks like a machine that runs. A
/// build has no systemd, and may not load kernel modules or has none of the running kernel's. There are none where
/// remember_that_it_runs() was called since the boot, of this folder and no copy of it.
/// @param machine  the folder that is "/" of the machine in question
std::vector<std::string> signs_of_a_build(const std::string& machine);

/// Somebody has said that it is a machine that runs: until it boots again nobody is to be asked.
Status remember_that_it_runs(const std::string& machine);

/// The question that slipway does not answer by itself, with these signs.
Error asks_for_image_or_live(const std::vector<std::string>& signs);

}  // namespace slipway::core
