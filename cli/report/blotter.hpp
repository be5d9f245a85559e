// SPDX-License-Identifier: Apache-2.0
// cli/report/blotter.hpp - blots secrets out of what is to be shown to others.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>

namespace slipway::core {

/// Knows secrets by the names they stand under ("password", "token", …) and by their form: passwords in URLs,
/// Authorization headers, private keys, JSON web tokens. What was learned once is blotted wherever it stands.
class Blotter {
 public:
  static constexpr std::string_view kBlot = "[blotted out]";

  /// Remembers the secrets in a text: JSON, YAML, TOML, environment or log lines.
  void learn(std::string_view text);
  /// Remembers one secret. Short ones are not: they would blot half of everything.
  void learn_secret(std::string_view secret);

  /// The text without secrets; JSON stays JSON.
  std::string blot(std::string_view text) const;

 private:
  void learn_json(const Json& value);
  Json blot_json(const Json& value) const;
  std::string blot_text(std::string text) const;
  std::set<std::string> secrets_;
};

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
