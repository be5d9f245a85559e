// SPDX-License-Identifier: Apache-2.0
// artifact/registry/http_error.hpp - why an exchange failed, in words: DNS, connection, TLS, proxy, refusal.
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "artifact/registry/http.hpp"

namespace slipway::artifact {

/// The error of an exchange without a whole answer. `code` is a CURLcode, `message` what libcurl says of it.
Error transport_error(const std::string& url, int code, const std::string& message);

/// Whether the same request may work a moment later.
bool is_worth_retrying(const Error& error);

/// The error of an answer that was not the one wanted: by status, with what the registry says itself.
/// @param doing  what was tried: "read the tags of nvidia/driver"
Error refusal(const HttpResponse& response, const std::string& doing);

}  // namespace slipway::artifact
