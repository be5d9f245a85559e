// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/check.hpp - checks that a container that an engine of this host starts gets the GPUs.
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

/// Time limits of the check by part. A program that hangs at the end of a part takes up to 5 s more (Host::run()).
struct CheckTerms {
  Runner::Span asking{20000};  ///< for asking the engines, and creating what the container needs
  Runner::Span start{25000};
  Runner::Span removal{15000};
  std::string number = random_number();  ///< unique to this check
};
/// Returns limits for a verify that has already run for that long: the engine kills a worker that exceeds verify's
/// limit, and all results are lost. Empty: too little time is left.
std::optional<CheckTerms> terms_after(Runner::Span gone);

/// Starts a container with all GPUs by the engine that choose_engine() finds. Its root contains only `probe`, so that
/// no image is fetched; the program opens each node of the GPUs for reading and writing. Folder, container and image
/// are removed afterwards in any case; a container that does not end in time is killed first. Remains that cannot be
/// removed, or that a killed check leaves, stay with the folder for the next check.
///
/// Not exercised if no engine can do it, with the reason for each installed one; and if the root is not running.
/// @param probe  host path of the program (kContainerProbe), which needs no libraries
Finding check_container(const Host& host, const std::vector<CdiSpec>& specs, const std::string& probe,
                        const CheckTerms& terms = {});

}  // namespace slipway::validator
