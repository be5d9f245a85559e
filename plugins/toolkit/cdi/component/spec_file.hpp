// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/spec_file.hpp - CDI specs as text, and as files that engines never see half of.
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"

namespace slipway::toolkit {

std::string spec_text(const nvidia::cdi::Spec& spec, bool json);

/// Makes the folders above it; readers see the former file or the whole new one. Errors: of writing, with the path.
Status write_spec(const std::string& path, const nvidia::cdi::Spec& spec, bool json);

/// The form of a spec: the one that was asked for ("yaml", "json"), else that of the file's name, else YAML.
/// Errors: `invalid` another word.
Result<bool> is_json(const std::string& format, const std::string& path);

}  // namespace slipway::toolkit
