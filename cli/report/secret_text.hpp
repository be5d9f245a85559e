// SPDX-License-Identifier: Apache-2.0
// cli/report/secret_text.hpp - finds what looks like a secret in plain text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::core {

/// Whether what stands under this name is a secret: "password", "REGISTRY_TOKEN", "identitytoken", "auth".
bool is_secret_name(std::string_view name);

/// Where a secret stands in a text.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// In order, none inside another. Each line is looked at for itself, but for private keys (PEM).
std::vector<SecretSpan> find_secrets(std::string_view text);

}  // namespace slipway::core
