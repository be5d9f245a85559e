// SPDX-License-Identifier: Apache-2.0
// artifact/registry/tags.hpp - the tags of a repository, page by page.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/registry/client.hpp"

namespace slipway::artifact {

/// Returns all tags, sorted. Errors: `not_found` there is no such repository; `invalid` the answer is malformed; the
/// client's.
Result<std::vector<std::string>> list_tags(RegistryClient& client);

/// True for a tag: at most 128 letters, digits, '_', '.' and '-', not beginning with '.' or '-'.
bool is_tag(std::string_view text);

/// Checks a tag for a URL. `where` is the place that names it. Errors: `invalid` it is not a tag.
Status check_tag(std::string_view tag, const std::string& where);

/// True when a tag belongs to another artifact (signatures and attestations of cosign, the referrers fallback).
bool is_companion_tag(std::string_view tag);

/// Returns the URL of a `Link: <…>; rel="next"` header, unchanged; empty if not found.
std::string next_link(const HttpResponse& response);

}  // namespace slipway::artifact
