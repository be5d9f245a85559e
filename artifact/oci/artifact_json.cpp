// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <slipway/text.hpp>

#include "artifact/oci/artifact.hpp"
#include "artifact/oci/digest.hpp"
#include "artifact/oci/json_field.hpp"

namespace slipway::artifact {
namespace {

constexpr std::array kSourceKeys{"repository", "tag", "digest", "insecure", "trust", "ca", "auth"};

Error wrong(const std::string& key, const std::string& problem, const std::string& next) {
  return Error{.code = ErrorCode::invalid, .what = key + ": " + problem, .where = key, .next = next};
}

Status check_keys(const Json& value) {
  for (const auto& [key, item] : value.items()) {
    bool known = false;
    for (const char* name : kSourceKeys) known = known || key == name;
    if (!known) return wrong(key, "unknown key of an artifact source", "the keys are " + joined(kSourceKeys));
    if (key == "insecure" ? !item.is_boolean() : !item.is_string())
      return wrong(key, std::string("expected ") + (key == "insecure" ? "true or false" : "a string"), {});
  }
  return {};
}

Status check_repository(const std::string& repository) {
  if (repository.empty())
    return wrong("repository", "an artifact source needs a repository",
                 "write oci://HOST[:PORT]/NAME, or the path of an OCI layout folder or bundle");
  const std::size_t scheme = repository.find("://");
  if (scheme != std::string::npos && !repository.starts_with("oci://"))
    return wrong("repository", "'" + repository.substr(0, scheme) + "://' is not a kind of artifact source",
                 "write oci://" + repository.substr(scheme + 3) + " (plain HTTP: also insecure: true)");
  return {};
}

}  // namespace

Result<Source> source_from_json(const Json& value) {
  if (value.is_string()) return source_from_json(Json{{"repository", value}});
  if (!value.is_object())
    return wrong("repository", "an artifact source is a string or a map", "write repository: oci://HOST[:PORT]/NAME");
  SLIPWAY_CHECK(check_keys(value));
  const Source source{.repository = text_at(value, "repository"),
                      .tag = text_at(value, "tag"),
                      .digest = text_at(value, "digest"),
                      .insecure = flag_at(value, "insecure"),
                      .trust_unsigned = text_at(value, "trust") == "unsigned",
                      .ca_file = text_at(value, "ca"),
                      .auth_file = text_at(value, "auth")};
  SLIPWAY_CHECK(check_repository(source.repository));
  if (!source.digest.empty() && !is_digest(source.digest))
    return wrong("digest", "'" + source.digest + "' is not a digest", "write sha256: and 64 lower-case hex digits");
  if (value.contains("trust") && !source.trust_unsigned)
    return wrong("trust", "'" + text_at(value, "trust") + "' is not a valid value of `trust`",
                 "write trust: unsigned, or leave it out and pin a digest");
  return source;
}

Json to_json(const Catalogue& catalogue) {
  Json entries = Json::array();
  for (const Entry& entry : catalogue.entries)
    entries.push_back({{"digest", entry.digest},
                       {"tag", entry.tag},
                       {"artifactType", entry.artifact_type},
                       {"annotations", entry.annotations.is_null() ? Json::object() : entry.annotations},
                       {"layers", entry.layers.is_null() ? Json::array() : entry.layers}});
  return Json{{"source", catalogue.source},
              {"complete", catalogue.complete},
              {"entries", entries},
              {"unread", catalogue.unread}};
}

}  // namespace slipway::artifact
