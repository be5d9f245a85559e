// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/engine.hpp"
#include "cli/explain/explain.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::cli {
namespace {

using Type = core::SchemaKey::Type;

constexpr const char* kDraft = "https://json-schema.org/draft/2020-12/schema";

// The forms that core/loader/schema/repository.cpp accepts.
constexpr const char* kRegistryPattern =
    R"(^oci://(\[[0-9a-fA-F:.%]+\]|[A-Za-z0-9_.-]+)(:[0-9]{1,5})?(/[a-z0-9]([a-z0-9._-]*[a-z0-9])?)+)"
    R"((:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$)";
constexpr const char* kPathPattern = R"(^(?!~)(?!.*://)(?![^/:]+:[^/]*/).+$)";
constexpr const char* kNoTilde = "^[^~]";

/// True when one of the texts, which YAML reads as another type, can match the pattern.
bool may_be(const core::SchemaKey& schema, const std::vector<std::string>& texts) {
  return schema.pattern.empty() || std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
           return core::pattern_mismatch(text, schema.pattern).empty();
         });
}

Json string_schema(const core::SchemaKey& schema) {
  Json types = Json::array({"string"});
  if (may_be(schema, {"1", "10", "535", "1.5", "535.10"})) types.push_back("number");
  if (may_be(schema, {"true", "false"})) types.push_back("boolean");
  Json value{{"type", types}};
  if (!schema.pattern.empty()) value["pattern"] = "^(?:" + schema.pattern + ")$";
  return value;
}

/// YAML reads true as a boolean and 1 as a number; a spec's enumeration accepts them as words.
Json enumeration_schema(const core::SchemaKey& schema) {
  Json values = Json::array();
  for (const std::string& word : schema.values) {
    values.push_back(word);
    if (word == "true" || word == "false") values.push_back(word == "true");
    if (const auto number = core::parse_integer(word)) values.push_back(*number);
  }
  return {{"enum", values}};
}

/// Adds the limits of a number, or of the number of elements.
void add_bounds(Json& value, const core::SchemaKey& schema, const char* least, const char* most) {
  if (schema.least) value[least] = *schema.least;
  if (schema.most) value[most] = *schema.most;
}

/// Requires that one of a key's names is present.
Json any_name_of(const std::string& name, const core::SchemaKey& schema) {
  Json any = Json::array({Json{{"required", {name}}}});
  for (const std::string& former : schema.formerly) any.push_back(Json{{"required", {former}}});
  return {{"anyOf", any}};
}

Json object_schema(const core::SchemaKey& schema) {
  Json properties = Json::object();
  Json required = Json::array();
  Json renamed = Json::array();  // required keys that have former names
  for (const auto& [name, child] : schema.keys) {
    properties[name] = json_schema(child);
    for (const std::string& former : child.formerly) {
      properties[former] = properties[name];
      properties[former].update({{"deprecated", true}, {"description", "Renamed: use '" + name + "'."}});
    }
    if (!child.required) continue;
    if (child.formerly.empty())
      required.push_back(name);
    else
      renamed.push_back(any_name_of(name, child));
  }
  Json value{{"properties", properties}, {"additionalProperties", false}};
  // "name:" without a value means "name: {}".
  value["type"] = required.empty() && renamed.empty() ? Json{"object", "null"} : Json("object");
  if (!required.empty()) value["required"] = required;
  if (!renamed.empty()) value["allOf"] = renamed;
  return value;
}

Json source_schema() {
  Json long_form = object_schema(core::artifact_source_schema());
  const Json repository{{"type", "string"}, {"anyOf", {{{"pattern", kRegistryPattern}}, {{"pattern", kPathPattern}}}}};
  long_form["properties"]["repository"].update(repository);
  long_form["properties"]["tag"]["pattern"] = "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$";
  long_form["properties"]["digest"].update({{"type", "string"}, {"pattern", "^sha256:[0-9a-f]{64}$"}});
  return {{"anyOf", {repository, long_form}}};
}

Json secret_schema() {
  return {{"type", "object"},
          {"minProperties", 1},
          {"maxProperties", 1},
          {"additionalProperties", false},
          {"properties",
           {{"file", {{"type", "string"}, {"pattern", kNoTilde}}},
            {"env", {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}}}}};
}

Json type_schema(const core::SchemaKey& schema) {
  switch (schema.type) {
    case Type::string:
      return string_schema(schema);
    case Type::integer: {
      Json value{{"type", "integer"}};
      add_bounds(value, schema, "minimum", "maximum");
      return value;
    }
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::enumeration:
      return enumeration_schema(schema);
    case Type::list: {
      Json value{{"type", "array"}};
      if (!schema.items.empty()) value["items"] = json_schema(schema.items.front());
      add_bounds(value, schema, "minItems", "maxItems");
      return value;
    }
    case Type::map: {
      Json value{{"type", "object"}};
      if (!schema.items.empty()) value["additionalProperties"] = json_schema(schema.items.front());
      add_bounds(value, schema, "minProperties", "maxProperties");
      return value;
    }
    case Type::object:
      return object_schema(schema);
    case Type::artifact_source:
      return source_schema();
    case Type::path:
      return {{"type", {"string", "number", "boolean"}}, {"pattern", kNoTilde}};
    case Type::secret:
      return secret_schema();
    case Type::any:
      return Json::object();
  }
  return Json::object();
}

Json object_of(Json properties, const std::vector<std::string>& required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", required},
          {"additionalProperties", false}};
}

}  // namespace

Json json_schema(const core::SchemaKey& schema) {
  Json value = type_schema(schema);
  const std::string going = schema.deprecated.empty() ? "" : "This key is deprecated: " + schema.deprecated + ". ";
  if (!going.empty()) value["deprecated"] = true;
  if (!(going + schema.help).empty()) value["description"] = going + schema.help;
  if (!schema.default_value.is_null()) value["default"] = schema.default_value;
  if (const Json example = core::example_value(schema); !example.is_null()) value["examples"] = Json::array({example});
  return value;
}

Json host_json_schema(const std::vector<const core::Manifest*>& manifests) {
  Json components = Json::object();
  for (const core::Manifest* manifest : manifests) {
    components[manifest->component] = json_schema(manifest->spec);
    components[manifest->component]["description"] = manifest->purpose;
  }
  const core::SchemaKey& host = core::host_spec_schema();
  Json keys{{"components", object_of(std::move(components), {})}};
  for (const auto& [key, own] : host.keys.at("spec").keys)
    if (key != "components") keys[key] = json_schema(own);
  const Json spec = object_of(std::move(keys), {"components"});
  Json schema = object_of({{"apiVersion", {{"const", core::kApiVersion}}},
                           {"kind", {{"const", core::kHostKind}}},
                           {"metadata", json_schema(host.keys.at("metadata"))},
                           {"spec", spec}},
                          {"apiVersion", "kind", "metadata", "spec"});
  schema["$schema"] = kDraft;
  schema["title"] = "slipway host spec";
  schema["description"] = "The desired state of a host. Made by `slipway explain --schema` from the installed plugins.";
  return schema;
}

}  // namespace slipway::cli
