// SPDX-License-Identifier: Apache-2.0
#include "core/engine/packages/sources.hpp"

#include <filesystem>

#include "core/spec/document.hpp"

namespace slipway::core {
namespace {

/// Replaces "{version}" in a tag prefix by the value of the sibling key of that name; an unset key matches every tag.
std::string expand(const std::string& prefix, const Json& siblings) {
  std::string text;
  for (std::size_t at = 0; at < prefix.size();) {
    const std::size_t open = prefix.find('{', at);
    const std::size_t close = open == std::string::npos ? open : prefix.find('}', open);
    if (close == std::string::npos) return text + prefix.substr(at);
    const Json value = siblings.value(prefix.substr(open + 1, close - open - 1), Json{});
    if (!value.is_string()) return {};
    text += prefix.substr(at, open - at) + value.get<std::string>();
    at = close + 1;
  }
  return text;
}

void collect(const SchemaKey& object, const Json& section, const std::string& path,
             std::map<std::string, NamedSource>& found) {
  for (const auto& [name, key] : object.keys) {
    if (!section.is_object() || !section.contains(name) || section[name].is_null()) continue;
    const std::string dotted = path.empty() ? name : path + "." + name;
    if (key.type == SchemaKey::Type::artifact_source)
      found[dotted] = {section[name], expand(key.tag_prefix, section)};
    else if (key.type == SchemaKey::Type::object)
      collect(key, section[name], dotted, found);
  }
}

/// Shows a folder relative to the user's working directory; anything else as in the spec.
std::string shown(const std::string& repository) {
  if (!repository.starts_with('/')) return repository;
  std::error_code problem;
  const auto here = std::filesystem::current_path(problem);
  const auto path = std::filesystem::path(repository).lexically_normal();
  const std::string near = problem ? ".." : path.lexically_proximate(here).string();
  return near.starts_with("..") ? path.string() : near;
}

/// Returns "oci://host:port" of a repository; any other address unchanged.
std::string registry_of(const std::string& repository) {
  const std::size_t scheme = repository.find("://");
  return scheme == std::string::npos ? repository : repository.substr(0, repository.find('/', scheme + 3));
}

/// Asks each silent registry only once: several components may name it, and each request would take its full time
/// limit.
Result<Json> ask_for_catalogue(Session& session, const std::string& component, const std::string& repository,
                               const Json& request) {
  const std::string registry = registry_of(repository);
  const auto silent = session.silent_registries().find(registry);
  if (silent != session.silent_registries().end()) return silent->second;
  auto catalogue = session.artifact(component, "catalogue", request);
  if (!catalogue && catalogue.error().code == ErrorCode::unreachable)
    session.silent_registries().emplace(registry, catalogue.error());
  return catalogue;
}

}  // namespace

std::map<std::string, NamedSource> named_sources(const Manifest& manifest, const Json& section) {
  std::map<std::string, NamedSource> found;
  collect(manifest.spec, section, "", found);
  return found;
}

bool CatalogueReading::widen(const Error& needs_catalogue) {
  constexpr std::size_t kMostPrefixes = 1000;  // ends a plugin that keeps asking for more
  if (part_ == Part::all || prefixes_.size() > kMostPrefixes) return false;
  bool by_tags = false;
  bool grew = part_ == Part::lock;
  for (const auto& [label, text] : needs_catalogue.details) {
    by_tags = by_tags || label == "tags" || label == "tag_prefix";
    if (label == "tag_prefix" && prefixes_.insert(text).second) grew = true;
  }
  part_ = by_tags ? Part::tags : Part::all;
  return grew || part_ == Part::all;
}

CatalogueReading CatalogueReading::of_tags(const std::vector<std::string>& prefixes) {
  CatalogueReading reading;
  reading.part_ = prefixes.empty() ? Part::all : Part::tags;
  reading.prefixes_.insert(prefixes.begin(), prefixes.end());
  return reading;
}

Result<Json> read_catalogues(Session& session, const std::string& component,
                             const std::map<std::string, NamedSource>& sources, const Lock& lock,
                             const CatalogueReading& reading) {
  const bool all = reading.part() == CatalogueReading::Part::all;
  Json catalogues = Json::object();
  for (const auto& [key, named] : sources) {
    const std::string repository = source_address(named.source);
    if (reading.part() == CatalogueReading::Part::lock) {
      catalogues[key] = {
          {"source", repository}, {"complete", false}, {"entries", lock.entries(component, key, named.source)}};
      continue;
    }
    if (all || reading.tag_prefixes().empty())
      session.ui().step({component, "plan"}, "reading what " + shown(repository) + " holds");
    Json request{{"source", named.source}, {"cache", session.cache()}};
    if (!all)
      request["tag_prefixes"] = reading.tag_prefixes();
    else if (!named.tag_prefix.empty())
      request["tag_prefixes"] = Json::array({named.tag_prefix});
    SLIPWAY_TRY(catalogue, ask_for_catalogue(session, component, repository, request));
    if (all) catalogue["complete"] = true;  // the manifest's tag prefix says that the other tags do not matter
    catalogues[key] = catalogue;
  }
  return catalogues;
}

std::map<std::string, Json> plain_sources(const std::map<std::string, NamedSource>& named) {
  std::map<std::string, Json> sources;
  for (const auto& [key, value] : named) sources[key] = value.source;
  return sources;
}

}  // namespace slipway::core
