// SPDX-License-Identifier: Apache-2.0
// artifact/oci/digest.hpp - the grammar of content digests, and the error for a missing tag.
//
// Source: OCI image-spec 1.1, descriptor.md. Only sha256 is accepted: every registry must support it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/error.hpp>

namespace slipway::artifact {

/// True for a well-formed sha256 digest; upper-case hex digits are not allowed.
bool is_digest(std::string_view text);

/// Returns the 64 hex digits of a well-formed digest: the file name of a blob in a layout or cache.
std::string_view hex_of(std::string_view digest);

/// Returns "sha256:0123456789ab", for lines where the whole digest is too long.
std::string short_digest(std::string_view digest);

/// Returns the error for a tag that a source does not have: names the nearest ones, or says that there are no tags.
Error no_such_tag(const std::string& source, const std::string& tag, const std::vector<std::string>& tags);

}  // namespace slipway::artifact
