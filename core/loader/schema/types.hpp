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

/// The keys of the long form, as an object's schema.
const SchemaKey& artifact_source_schema();

/// A text (oci://HOST[:PORT]/NAME[:TAG][@DIGEST], or a path) or a map; stays in the form it has.
Json check_artifact_source(const YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

/// {file: PATH} or {env: NAME}. No message quotes anything of what was written: it may be the secret itself.
Json check_secret(const YamlNode& node, const SchemaKey& schema, const std::string& key, SchemaCheck& check);

/// A secret that a section refers to: the dotted key that names it, and the variable; empty where it is a file.
struct NamedSecret {
  std::string key;
  std::string variable;
};
/// Those of a section in its complete form.
std::vector<NamedSecret> secrets_of(const Json& section, const SchemaKey& schema);

/// The parts of oci://HOST[:PORT]/NAME[:TAG][@DIGEST]. A path is all repository: it may hold any of these characters.
struct RepositoryParts {
  std::string repository;  ///< without tag and digest
  std::string tag;
  std::string digest;
};
RepositoryParts split_repository(const std::string& text);

/// Why a text is not a repository; "" when it is one.
std::string repository_problem(const std::string& text);

bool is_tag(std::string_view text);
bool is_digest(std::string_view text);

/// Why a text does not fit a pattern, as the end of a sentence; "" when it fits as a whole. Texts over 1 KiB fit none:
/// the standard library's matcher recurses per character.
std::string pattern_mismatch(const std::string& text, const std::string& pattern);

/// What is wrong with a pattern itself; "" when it can be used. Patterns are ECMAScript, at most 500 bytes.
std::string pattern_problem(const std::string& pattern);

/// A decimal integer that fits 64 bits: sign, then digits without a leading zero.
std::optional<std::int64_t> parse_integer(const std::string& text);

/// A finite decimal number with a point or an exponent.
std::optional<double> parse_decimal(const std::string& text);

/// "010": octal for YAML 1.1, ten for YAML 1.2.
bool has_leading_zero(const std::string& text);

/// What a word that is not a boolean here was surely meant as: yes, no, on, off, and true and false in other letter
/// case.
std::optional<bool> other_boolean(const std::string& text);

}  // namespace slipway::core
