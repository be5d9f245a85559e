// SPDX-License-Identifier: Apache-2.0
// app/report/blotter.hpp - blots secrets out of what is to be shown to others.
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

namespace slipway::core {

/// Knows secrets by the names they stand under ("password", "token", …) and by their form: passwords in URLs,
/// Authorization headers, private keys, JSON web tokens, hooks of chat services. What was learned once is blotted
/// wherever it stands.
class Blotter {
 public:
  static constexpr std::string_view kBlot = "[blotted out]";

  /// Remembers the secrets in a text: JSON, TOML, environment or log lines.
  void learn(std::string_view text);
  /// The same of YAML, in whichever of its forms a value is written.
  void learn_yaml(std::string_view text);
  /// Remembers one secret. Short ones are not: they would blot half of everything.
  void learn_secret(std::string_view secret);

  /// The text without secrets; JSON stays JSON. A note in its place when more secrets were learned than are kept.
  std::string blot(std::string_view text) const;
  /// The values of a YAML text without secrets, written anew, without comments. A note in the place of what is not
  /// YAML: where a secret ends there is not known.
  std::string blot_yaml(std::string_view text) const;

 private:
  void learn_json(const Json& value);
  Json blot_json(const Json& value) const;
  void learn_node(const YamlNode& node, bool is_secret);
  void print_node(const YamlNode& node, std::size_t indent, bool is_secret, std::string& text) const;
  std::string blot_text(std::string text) const;
  static constexpr std::size_t kMostBytes = std::size_t{2} << 20U;  ///< of all secrets that are kept
  std::set<std::string> secrets_;
  std::size_t bytes_ = 0;
  bool too_many_ = false;
  mutable std::optional<SecretSearch> search_;  ///< of secrets_, made when it is needed
};

/// In order, none inside another. Each line is looked at for itself, but for private keys (PEM) and blocks of YAML. The
/// work grows with the length of the text alone, whatever its lines are.
/// @param looked_at  takes how many characters were looked at, each as often as it was
std::vector<SecretSpan> find_secrets(std::string_view text, std::size_t* looked_at = nullptr);

}  // namespace slipway::core
