// SPDX-License-Identifier: Apache-2.0
// artifact/oci/digest.hpp - the grammar of content digests ("sha256:" and 64 lower-case hex digits).
//
// Source: OCI image-spec 1.1, descriptor.md. Only sha256 is taken: it is the one that every registry must know.
#pragma once

#include <string>
#include <string_view>

namespace slipway::artifact {

/// Whether this is a well-formed sha256 digest; upper-case hex digits are not.
bool is_digest(std::string_view text);

/// The 64 hex digits of a well-formed digest: the file name of a blob in a layout or cache.
std::string_view hex_of(std::string_view digest);

/// "sha256:0123456789ab", for lines where the whole digest is too long.
std::string short_digest(std::string_view digest);

}  // namespace slipway::artifact
