// SPDX-License-Identifier: Apache-2.0
// app/report/redactor.hpp - removes secrets from texts before other people see them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/text/secret_name.hpp>

#include "app/report/secret_search.hpp"
#include "base/yaml/tree.hpp"

namespace slipway::app {

/// Recognizes secrets by their key ("password", "token", …) and by their form: passwords in URLs, Authorization
/// headers, private keys, JSON web tokens, hooks of chat services. A secret found once is removed everywhere.
class Redactor {
 public:
  static constexpr std::string_view kRedacted = "[blotted out]";

  /// Learns the secrets in a text: JSON, TOML, environment or log lines.
  void learn(std::string_view text);
  /// The same for YAML, in every notation of a value.
  void learn_yaml(std::string_view text);
  /// Learns one secret. Ignores short ones: they would remove half of the text.
  void learn_secret(std::string_view secret);

  /// Returns the text without secrets; JSON stays JSON. Returns a note instead when too many secrets were learned.
  std::string redact(std::string_view text) const;
  /// Writes a YAML text again, leaving out its secrets and comments. Returns a note instead of a text that is not YAML:
  /// in such a text the end of a secret is unknown.
  std::string redact_yaml(std::string_view text) const;

 private:
  void learn_json(const Json& value);
  Json redact_json(const Json& value) const;
  void learn_node(const base::YamlNode& node, bool is_secret);
  void print_node(const base::YamlNode& node, std::size_t indent, bool is_secret, std::string& text) const;
  std::string redact_text(std::string text) const;
  static constexpr std::size_t kMostBytes = std::size_t{2} << 20U;  ///< for all learned secrets
  std::set<std::string> secrets_;
  std::size_t bytes_ = 0;
  bool too_many_ = false;
  mutable std::optional<SecretSearch> search_;  ///< of secrets_, made on first use
};

/// Returns secrets in order, none inside another. Looks at each line by itself, except for private keys (PEM) and
/// blocks of YAML. The work is linear in the length of the text, for any lines.
/// @param looked_at  receives the number of characters read, each counted as often as it was read
std::vector<SecretSpan> find_secrets(std::string_view text, std::size_t* looked_at = nullptr);

}  // namespace slipway::app
