// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/check.hpp - does a container that an engine of this host starts get the GPUs?
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "validator/cdi_specs.hpp"
#include "validator/check.hpp"

namespace slipway::validator {

inline constexpr const char* kContainerCheck = "validator.container";
inline constexpr const char* kContainerProbe = "validator-container-probe";

/// Starts a container with all GPUs by the engine that choose_engine() finds. Its root has nothing but `probe` in it,
/// so that no image is fetched; the program opens each node of the GPUs for reading and writing. Whatever becomes of
/// it, folder, container and image are gone afterwards; a container that does not end in time is killed first. What a
/// check leaves that is killed itself the next one removes.
///
/// Not exercised where no engine can, saying why of each that is here; and where the root is not running.
/// @param probe  host path of the program (kContainerProbe), which needs no library
Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe);

}  // namespace slipway::validator
