// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/check.hpp - does a container that an engine of this host starts get the GPUs?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "validator/cdi_specs.hpp"
#include "validator/check.hpp"
#include "validator/container/scratch.hpp"

namespace slipway::validator {

inline constexpr const char* kContainerCheck = "validator.container";
inline constexpr const char* kContainerProbe = "validator-container-probe";

/// What the check may take of time, by parts. What hangs at the end of a part takes up to 5 s more (Host::run()).
struct CheckTerms {
  Runner::Span asking{20000};  ///< the engines, and making what the container needs
  Runner::Span start{25000};
  Runner::Span removal{15000};
  std::string number = random_number();  ///< that no other check has
};
/// For a verify that has taken so long already: the engine kills a worker that takes longer than a verify may, and then
/// nothing is said of what was found. Nothing: too little time is left.
std::optional<CheckTerms> terms_after(Runner::Span gone);

/// Starts a container with all GPUs by the engine that choose_engine() finds. Its root has nothing but `probe` in it,
/// so that no image is fetched; the program opens each node of the GPUs for reading and writing. Whatever becomes of
/// it, folder, container and image are removed afterwards; a container that does not end in time is killed first. What
/// cannot be removed, and what a check leaves that is killed itself, is left to the next one with the folder.
///
/// Not exercised where no engine can, saying why of each that is here; and where the root is not running.
/// @param probe  host path of the program (kContainerProbe), which needs no library
Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe,
                        const CheckTerms& terms = {});

}  // namespace slipway::validator
