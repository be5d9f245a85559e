// SPDX-License-Identifier: Apache-2.0
#include "cli/render/difference.hpp"

#include <algorithm>
#include <sstream>

#include <slipway/text.hpp>
#include <slipway/text/secret_name.hpp>

#include "cli/render/render.hpp"

namespace slipway::cli {
namespace {

using Values = std::map<std::string, Json>;  ///< by dotted key

void flatten(const Json& value, const std::string& key, Values& values) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [name, child] : value.items()) flatten(child, key.empty() ? name : key + "." + name, values);
  } else {
    values[key] = value;
  }
}

/// Returns "535.261.03 sha256:0f1e2d3c4b5a" for each package that a lock pins for a source.
std::string packages_text(const Json& pinned) {
  constexpr std::size_t kShown = sizeof("sha256:") - 1 + 12;
  const auto text = [](const Json& entry, const char* name) {
    const Json value = app::member(entry, name);
    return value.is_string() ? value.get<std::string>() : "";
  };
  const Json entries = app::member(pinned, "entries");
  return joined(entries.is_array() ? entries : Json::array(), ", ", [&](const Json& entry) {
    const std::string tag = text(entry, "tag");
    return (tag.empty() ? "" : tag + " ") + text(entry, "digest").substr(0, kShown);
  });
}

/// Copies nothing, since the value may be large.
const Json& object_at(const Json& value, const std::string& name) {
  static const Json kEmpty = Json::object();
  const auto found = value.find(name);
  return found != value.end() && found->is_object() ? *found : kEmpty;
}

Values values_of(const core::Generation& generation, const std::string& component) {
  Values values;
  flatten(object_at(object_at(object_at(generation.spec, "spec"), "components"), component), "", values);
  values.erase("");  // an empty section's entry
  const Json& locked = object_at(object_at(generation.lock, "components"), component);
  for (const auto& [key, pinned] : locked.items())
    if (pinned.is_object()) values["package " + key] = packages_text(pinned);
  const Json& accepted = object_at(generation.accepted, component);
  for (const auto& [item, edit] : accepted.items()) values["accepted edit of " + item] = true;
  const Json& plugin = object_at(generation.plugins, component);
  values["plugin"] = plugin.value("version", "") + " " + plugin.value("digest", "").substr(0, 19);
  return values;
}

Values values_beside(const core::Generation& generation) {
  Json frame = generation.spec;
  if (frame.is_object()) frame["spec"].erase("components");
  Values values;
  flatten(frame, "", values);
  if (!generation.kernels.empty()) values["--kernel"] = generation.kernels;
  return values;
}

/// Shows that a secret has changed, but not its value.
Json shown_of(const std::string& key, const Json& value) {
  return value.is_null() || !is_secret_key(key) ? value : Json("(not shown)");
}

Json changes(const Values& from, const Values& to) {
  Json list = Json::array();
  Values all = to;
  all.insert(from.begin(), from.end());
  for (const auto& [key, value] : all) {
    const Json before = from.contains(key) ? from.at(key) : Json{};
    const Json after = to.contains(key) ? to.at(key) : Json{};
    if (before != after) list.push_back({{"key", key}, {"from", shown_of(key, before)}, {"to", shown_of(key, after)}});
  }
  return list;
}

std::string shown(const Json& value) {
  if (value.is_null()) return "(not set)";
  return value.is_string() ? value.get<std::string>() : canonical(value);
}

}  // namespace

std::vector<std::string> applied_components(const core::Generation& generation) {
  std::vector<std::string> names;
  for (const auto& [name, plugin] : generation.plugins.items()) names.push_back(name);
  return names;
}

Json difference(const core::Generation& from, const core::Generation& to) {
  Json added = Json::array();
  Json removed = Json::array();
  Json changed = Json::object();
  for (const std::string& name : applied_components(from))
    if (!to.plugins.contains(name)) removed.push_back(name);
  for (const std::string& name : applied_components(to)) {
    if (!from.plugins.contains(name))
      added.push_back(name);
    else if (Json list = changes(values_of(from, name), values_of(to, name)); !list.empty())
      changed[name] = std::move(list);
  }
  if (Json list = changes(values_beside(from), values_beside(to)); !list.empty()) changed[""] = std::move(list);
  return {{"added", std::move(added)}, {"changed", std::move(changed)}, {"removed", std::move(removed)}};
}

std::string difference_line(const Json& difference) {
  std::vector<std::string> parts;
  for (const Json& name : difference["added"]) parts.push_back("+" + name.get<std::string>());
  for (const Json& name : difference["removed"]) parts.push_back("-" + name.get<std::string>());
  for (const auto& [name, list] : difference["changed"].items()) {
    const std::string keys = joined(list, ", ", [](const Json& change) { return change["key"].get<std::string>(); });
    parts.push_back(name.empty() ? keys : name + " (" + keys + ")");
  }
  return parts.empty() ? "nothing" : joined(parts);
}

std::string difference_text(const Json& difference) {
  std::ostringstream text;
  for (const Json& name : difference["added"]) text << "+ " << name.get<std::string>() << '\n';
  for (const Json& name : difference["removed"]) text << "- " << name.get<std::string>() << '\n';
  for (const auto& [name, list] : difference["changed"].items()) {
    text << "~ " << (name.empty() ? "spec" : name) << '\n';
    for (const Json& change : list)
      text << "    " << change["key"].get<std::string>() << ": " << shown(change["from"]) << " -> "
           << shown(change["to"]) << '\n';
  }
  return text.str();
}

}  // namespace slipway::cli
