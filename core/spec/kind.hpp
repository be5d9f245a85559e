// SPDX-License-Identifier: Apache-2.0
// core/spec/kind.hpp - is this document a host spec of ours, a later one, somebody else's, or none at all?
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "core/loader/manifest.hpp"
#include "core/loader/yaml/tree.hpp"

namespace slipway::core {

inline constexpr const char* kApiVersion = "slipway.dev/v1";
inline constexpr const char* kHostKind = "Host";

/// The schema of all of a host spec but the components' own sections, which are a map here.
const SchemaKey& host_spec_schema();

/// Errors: `invalid` for a document that is no host spec; `unsupported` for a later apiVersion of slipway.dev and for
/// a kind of the GPU Operator's.
Status check_kind(const YamlNode& document, const std::string& file);

}  // namespace slipway::core
