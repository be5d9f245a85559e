// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "core/loader/schema/check.hpp"
#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

using Type = SchemaKey::Type;

/// Keeps "..": behind a symlink it means something other than its lexical form.
std::string absolute_path(const std::string& path, const std::string& folder) {
  const std::filesystem::path joined = std::filesystem::path(folder) / path;
  const bool climbs = std::find(joined.begin(), joined.end(), std::filesystem::path("..")) != joined.end();
  std::string text = climbs ? joined.string() : joined.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

Json complete_object(const Json& written, const SchemaKey& schema, const std::string& folder) {
  Json object = Json::object();
  for (const auto& [name, child] : schema.keys) {
    if (written.contains(name)) {
      object[name] = complete_value(written[name], child, folder);
    } else if (!child.default_value.is_null()) {
      object[name] = complete_value(child.default_value, child, folder);
    } else if (child.type == Type::object && !child.required) {
      const bool needs_input =
          std::any_of(child.keys.begin(), child.keys.end(), [](const auto& key) { return key.second.required; });
      Json filled = needs_input ? Json::object() : complete_object(Json::object(), child, folder);
      if (!filled.empty()) object[name] = std::move(filled);
    }
  }
  return object;
}

/// Returns the repository of an artifact source: makes a folder's path absolute, leaves an address unchanged.
std::string absolute_repository(const std::string& text, const std::string& folder) {
  return text.starts_with("oci://") ? text : absolute_path(text, folder);
}

Json complete_source(const Json& written, const std::string& folder) {
  Json source =
      written.is_string() ? Json{{"repository", written}} : complete_object(written, artifact_source_schema(), folder);
  const RepositoryParts parts = split_repository(source["repository"].get<std::string>());
  source["repository"] = absolute_repository(parts.repository, folder);
  if (!parts.tag.empty()) source["tag"] = parts.tag;
  if (!parts.digest.empty()) source["digest"] = parts.digest;
  return source;
}

}  // namespace

Json absolute_value(const Json& written, const SchemaKey& schema, const std::string& folder) {
  Json value = written;
  if (value.is_string() && schema.type == Type::path) return absolute_path(value.get<std::string>(), folder);
  if (value.is_string() && schema.type == Type::artifact_source)
    return absolute_repository(value.get<std::string>(), folder);
  if (schema.type == Type::artifact_source && value.contains("repository"))
    value["repository"] = absolute_repository(value["repository"].get<std::string>(), folder);
  if (schema.type == Type::secret && value.contains("file"))
    value["file"] = absolute_path(value["file"].get<std::string>(), folder);
  if (schema.type == Type::object && value.is_object())
    for (const auto& [name, child] : schema.keys)
      if (value.contains(name)) value[name] = absolute_value(value[name], child, folder);
  if ((schema.type == Type::list || schema.type == Type::map) && !schema.items.empty())
    for (Json& item : value) item = absolute_value(item, schema.items.front(), folder);
  return value;
}

Json complete_value(const Json& written, const SchemaKey& schema, const std::string& folder) {
  if (schema.type == Type::object) return complete_object(written.is_null() ? Json::object() : written, schema, folder);
  if (written.is_null()) return written;
  if (schema.type == Type::path) return absolute_path(written.get<std::string>(), folder);
  if (schema.type == Type::artifact_source) return complete_source(written, folder);
  Json value = written;
  if (schema.type == Type::secret && value.contains("file"))
    value["file"] = absolute_path(value["file"].get<std::string>(), folder);
  if ((schema.type == Type::list || schema.type == Type::map) && !schema.items.empty())
    for (Json& item : value) item = complete_value(item, schema.items.front(), folder);
  return value;
}

}  // namespace slipway::core
