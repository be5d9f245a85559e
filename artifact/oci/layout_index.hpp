// SPDX-License-Identifier: Apache-2.0
// artifact/oci/layout_index.hpp - index.json and oci-layout, the two files at the top of an OCI layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Checks an `oci-layout` file. `path` names the layout in messages. Errors: `invalid`, `unsupported` another version.
Status check_layout_file(std::string_view text, const std::string& path);

/// What `index.json` lists; a tag is the annotation org.opencontainers.image.ref.name, which is then taken out.
Result<std::vector<TaggedRoot>> parse_layout_index(std::string_view text, const std::string& path);

/// Those with this tag, or of this selection; sorted by tag and digest.
/// Errors: `not_found` no such tag, with the nearest ones.
Result<TaggedRoots> select_roots(const std::vector<TaggedRoot>& all, const std::string& tag,
                                 const TagSelection& selection, const std::string& source);

}  // namespace slipway::artifact
