// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/types.hpp - the types of a schema's values: artifact sources, secrets, patterns, numbers and
// booleans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loader/schema/check.hpp"

namespace slipway::core {

/// The schema of the long form: an object with keys.
const SchemaKey& artifact_source_schema();

/// Checks a text (oci://HOST[:PORT]/NAME[:TAG][@DIGEST], or a path) or a map; keeps its form.
Json check_artifact_source(const base::YamlNode& node, const SchemaKey& schema, const std::string& key,
                           SchemaCheck& check);

/// Checks {file: PATH} or {env: NAME}. Messages quote nothing of the value: it may be the secret itself.
Json check_secret(const base::YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

/// A secret that a section refers to: its dotted key, and its environment variable; empty when it is a file.
struct NamedSecret {
  std::string key;
  std::string variable;
};
/// Returns the secrets of a section in its complete form.
std::vector<NamedSecret> secrets_of(const Json& section, const SchemaKey& schema);

/// The parts of oci://HOST[:PORT]/NAME[:TAG][@DIGEST]. A path is only a repository: it may contain any of these
/// characters.
struct RepositoryParts {
  std::string repository;  ///< without tag and digest
  std::string tag;
  std::string digest;
};
RepositoryParts split_repository(const std::string& text);

/// Returns the reason why a text is not a repository; "" when it is one.
std::string repository_problem(const std::string& text);

bool is_tag(std::string_view text);
bool is_digest(std::string_view text);

/// Returns the reason why the whole text does not match a pattern, as the end of a sentence; "" when it matches. Texts
/// over 1 KiB match no pattern: the standard library's matcher recurses per character.
std::string pattern_mismatch(const std::string& text, const std::string& pattern);

/// Returns the problem of a pattern itself; "" when it is valid. Patterns are ECMAScript, at most 500 bytes.
std::string pattern_problem(const std::string& pattern);

/// Parses a decimal integer of 64 bits: sign, then digits without a leading zero.
std::optional<std::int64_t> parse_integer(const std::string& text);

/// Parses a finite decimal number with a point or an exponent.
std::optional<double> parse_decimal(const std::string& text);

/// True for "010": octal in YAML 1.1, ten in YAML 1.2.
bool has_leading_zero(const std::string& text);

/// Returns the boolean that the user probably meant by a word that is not a boolean here: yes, no, on, off, and true
/// and false in other letter case.
std::optional<bool> other_boolean(const std::string& text);

}  // namespace slipway::core
