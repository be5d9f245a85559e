// SPDX-License-Identifier: Apache-2.0
// artifact/registry/http/reference.hpp - a repository in a registry: parses "oci://host[:port]/name".
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::artifact {

struct Reference {
  std::string host;  ///< name or address; an IPv6 address in brackets
  std::string port;  ///< empty: the scheme's default
  std::string name;  ///< "nvidia/driver"

  /// Returns "host" or "host:port", as in the URL and in docker's config.json.
  std::string authority() const { return port.empty() ? host : host + ":" + port; }
  /// True for this machine itself: localhost, 127.0.0.0/8, [::1].
  bool is_loopback() const;
};

/// Source of the name's grammar: distribution-spec 1.1. Errors: `invalid`, with the place for a tag or digest.
Result<Reference> parse_reference(const std::string& repository);

/// True when a host (without port) is this machine itself.
bool is_loopback_host(std::string_view host);

}  // namespace slipway::artifact
