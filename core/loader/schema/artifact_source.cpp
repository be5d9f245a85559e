// SPDX-License-Identifier: Apache-2.0
#include "core/loader/schema/type_names.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

using Kind = base::YamlNode::Kind;
using Type = SchemaKey::Type;

constexpr const char* kSourceHelp = "write oci://HOST[:PORT]/NAME, or the path of an OCI layout folder or bundle file";

SchemaKey key_of(Type type, std::string help, std::string example = {}) {
  SchemaKey key;
  key.type = type;
  key.help = std::move(help);
  key.example = std::move(example);
  return key;
}

SchemaKey make_source_schema() {
  SchemaKey schema;
  schema.type = Type::object;
  schema.keys["repository"] = key_of(Type::string,
                                     "Where the artifacts are: oci://HOST[:PORT]/NAME, or the path of an "
                                     "OCI layout folder or bundle file.",
                                     "oci://registry.example.com/acme/driver");
  schema.keys["repository"].required = true;
  schema.keys["tag"] = key_of(Type::string, "Only this tag.");
  schema.keys["digest"] = key_of(Type::string, "Only the artifact or index with this digest.");
  schema.keys["trust"] =
      key_of(Type::enumeration, "`unsigned` accepts artifacts although nothing proves their origin.");
  schema.keys["trust"].values = {"unsigned"};
  schema.keys["insecure"] = key_of(Type::boolean, "Plain HTTP to a registry that is not on this host.");
  schema.keys["ca"] = key_of(Type::path, "PEM file of a private CA, in addition to the system's.");
  schema.keys["auth"] = key_of(Type::path, "A config.json of container tools with the registry's credentials.");
  return schema;
}

void check_repository(const base::YamlNode& node, const std::string& key, SchemaCheck& check) {
  if (const std::string why = repository_problem(node.text); !why.empty())
    check.problems.add(node.position, key, shown_key(key) + ": " + found(node) + " is not an artifact source: " + why,
                       kSourceHelp);
}

void check_long_form(const base::YamlNode& node, const std::string& key, SchemaCheck& check) {
  const auto text_of = [&](const char* name) {
    const base::YamlEntry* entry = node.find(name);
    return entry != nullptr && entry->value.kind == Kind::scalar ? &entry->value : nullptr;
  };
  const base::YamlNode* repository = text_of("repository");
  if (repository != nullptr) check_repository(*repository, below(key, "repository"), check);
  const RepositoryParts parts = split_repository(repository != nullptr ? repository->text : "");
  if (const base::YamlNode* tag = text_of("tag")) {
    if (!is_tag(tag->text))
      check.problems.add(tag->position, below(key, "tag"), shown_key(key) + ".tag: " + found(*tag) + " is not a tag",
                         "a tag holds letters, digits and . _ -, at most 128");
    if (!parts.tag.empty())
      check.problems.add(tag->position, below(key, "tag"), shown_key(key) + ": the tag is given twice",
                         "keep the tag in 'tag' or in 'repository'");
  }
  if (const base::YamlNode* digest = text_of("digest")) {
    if (!is_digest(digest->text))
      check.problems.add(digest->position, below(key, "digest"),
                         shown_key(key) + ".digest: " + found(*digest) + " is not a digest",
                         "write sha256: and 64 lower-case hex digits, as `slipway pkg inspect` prints them");
    if (!parts.digest.empty())
      check.problems.add(digest->position, below(key, "digest"), shown_key(key) + ": the digest is given twice",
                         "keep the digest in 'digest' or in 'repository'");
  }
}

}  // namespace

const SchemaKey& artifact_source_schema() {
  static const SchemaKey schema = make_source_schema();
  return schema;
}

Json check_artifact_source(const base::YamlNode& node, const SchemaKey& schema, const std::string& key,
                           SchemaCheck& check) {
  if (node.kind == Kind::scalar) {
    check_repository(node, key, check);
    return node.text;
  }
  if (node.kind == Kind::map) {
    Json value = check_value(node, artifact_source_schema(), key, check);
    check_long_form(node, key, check);
    return value;
  }
  check.problems.add(node.position, key, shown_key(key) + ": expected " + expected(schema) + ", found " + found(node));
  return nullptr;
}

}  // namespace slipway::core
