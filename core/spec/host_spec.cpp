// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <slipway/text.hpp>

#include "core/loader/installation.hpp"
#include "core/loader/schema/check.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {
namespace {

constexpr std::string_view kSpecPrefix = "spec.";
constexpr const char* kComponentsKey = "spec.components";
constexpr std::size_t kShownPlugins = 3;

const base::YamlNode* components_of(const base::YamlNode& document) {
  const base::YamlEntry* spec = document.find("spec");
  const base::YamlEntry* components = spec != nullptr ? spec->value.find("components") : nullptr;
  return components != nullptr ? &components->value : nullptr;
}

/// Returns a remark about slipway's own components that are missing when the variable names only other folders.
std::string remark_on_folders(const Plugins& plugins) {
  const char* const variable = std::getenv("SLIPWAY_PLUGIN_PATH");
  const std::string installed = installed_plugin_folder();
  const bool has_installed =
      std::ranges::any_of(plugins.files, [&](const auto& file) { return file.first.starts_with(installed + "/"); });
  if (variable == nullptr || *variable == 0 || has_installed) return {};
  return "; SLIPWAY_PLUGIN_PATH takes the place of " + installed + ": write `SLIPWAY_PLUGIN_PATH=" + variable + ":" +
         installed + "` to have those as well";
}

void unknown_component(const base::YamlEntry& entry, const Plugins& plugins, SchemaCheck& check) {
  std::vector<std::string> known;
  for (const auto& [name, path] : plugins.component_to_path) known.push_back(name);
  std::string next = "the installed plugins have " + listed(known, "and");
  if (known.empty()) next = "install its plugin: none was found";
  next += remark_on_folders(plugins);
  check.problems.add(entry.position, below(kComponentsKey, entry.key),
                     "unknown component '" + entry.key + "'" + did_you_mean(entry.key, known), next);
}

/// The inputs for checking a spec, besides the schemas.
struct Reading {
  const Plugins& plugins;
  const Json& applied;     ///< component to {version, digest}
  bool is_record = false;  ///< the document is a record: an invalid section is not a user's error

  bool was_applied(const std::string& component) const { return applied.is_object() && applied.contains(component); }
  std::string version_of(const std::string& component) const { return applied[component].value("version", ""); }
};

/// Adds the problems of unreadable plugins: a component may be unknown because of them.
Error with_plugin_problems(Error error, const Plugins& plugins) {
  for (std::size_t i = 0; i < std::min(plugins.problems.size(), kShownPlugins); ++i)
    error.details.emplace_back("plugin", plugins.problems[i].what + " (" + plugins.problems[i].where + ")");
  return error;
}

Error has_no_plugin(const std::string& component, const Reading& reading) {
  const std::string version = reading.version_of(component);
  return with_plugin_problems(
      {ErrorCode::not_found,
       "no installed plugin has the component " + component + ", which " + component + " " + version + " has applied",
       below(kComponentsKey, component),
       "install its plugin again (version " + version + "), or give the component up: `slipway remove " + component +
           "`, and remove it from the spec",
       {}},
      reading.plugins);
}

Error no_longer_valid(const std::string& component, Error error, const Reading& reading) {
  const std::string version = reading.version_of(component);
  const PluginFile& file = reading.plugins.file(component);
  error.details.emplace_back(
      "applied with", component + " " + version + "; installed is " +
                          (file.plugin_version == version ? "another build of that version" : file.plugin_version) +
                          " (" + file.path + ")");
  error.next = "install " + component + " " + version + " again, or apply a spec for what is installed";
  return error;
}

/// Checks each section against its plugin's schema and fills in defaults.
void read_components(const base::YamlNode& components, const Reading& reading, const std::string& folder,
                     HostSpec& spec, SchemaCheck& check) {
  for (const base::YamlEntry& entry : components.entries) {
    const Manifest* manifest = reading.plugins.manifest(entry.key);
    if (manifest == nullptr && reading.was_applied(entry.key)) {
      spec.unusable.emplace(entry.key, has_no_plugin(entry.key, reading));
      continue;
    }
    if (manifest == nullptr) {
      unknown_component(entry, reading.plugins, check);
      continue;
    }
    check.remarks.clear();
    SchemaCheck alone(spec.file);
    SchemaCheck& own = reading.is_record && reading.was_applied(entry.key) ? alone : check;
    const Json written = check_value(entry.value, manifest->spec, below(kComponentsKey, entry.key), own);
    if (!alone.problems.none()) {
      spec.unusable.emplace(entry.key, no_longer_valid(entry.key, alone.problems.to_error(), reading));
      continue;
    }
    if (!own.remarks.empty()) spec.remarks[entry.key] = own.remarks;
    if (!check.problems.none()) continue;  // a partial value is not filled in
    spec.document["spec"]["components"][entry.key] = absolute_value(written, manifest->spec, folder);
    spec.components[entry.key] = complete_value(written, manifest->spec, folder);
  }
}

/// Adds the parts of other components' sections that manifests let a component read, as written.
void add_sections(const Plugins& plugins, HostSpec& spec) {
  const std::map<std::string, Json> own = spec.components;
  for (auto& [name, section] : spec.components)
    for (const auto& [other, keys] : plugins.manifest(name)->sections) {
      const auto found = own.find(other);
      if (found == own.end()) continue;
      Json& part = section["sections"][other] = Json::object();
      for (const std::string& key : keys)
        if (found->second.contains(key)) part[key] = found->second[key];
    }
}

std::string folder_of(const std::string& file) {
  std::error_code problem;
  const std::filesystem::path absolute = std::filesystem::absolute(file, problem);
  return problem ? "/" : absolute.parent_path().string();
}

Result<HostSpec> make_spec(const base::YamlNode& document, const std::string& file, const Reading& reading) {
  const Plugins& plugins = reading.plugins;
  SLIPWAY_CHECK(check_kind(document, file));
  SchemaCheck check(file);
  HostSpec spec;
  spec.file = file;
  spec.document = check_value(document, host_spec_schema(), "", check);
  if (check.problems.none() && spec.document["spec"].contains("expect"))
    spec.expected = expected_gpus(spec.document["spec"]["expect"], check);
  bool all_known = true;
  if (const base::YamlNode* components = components_of(document)) {
    for (const base::YamlEntry& entry : components->entries)
      all_known = all_known && plugins.manifest(entry.key) != nullptr;
    read_components(*components, reading, folder_of(file), spec, check);
  }
  if (!check.problems.none())
    return all_known ? check.problems.to_error() : with_plugin_problems(check.problems.to_error(), plugins);
  add_sections(plugins, spec);
  spec.name = spec.document["metadata"]["name"];
  spec.hardware = spec.document["spec"].value("hardware", "");
  spec.keeps_failed_changes = spec.document["spec"].value("on_failed_verify", "") == "keep";
  spec.gates_boot = spec.document["spec"].value("boot_gate", false);
  for (const auto& [key, position] : check.positions) {
    if (position.line == 0) continue;
    const bool in_spec = key.starts_with(kSpecPrefix);
    spec.positions[in_spec ? key.substr(kSpecPrefix.size()) : key] = base::to_text(file, position);
  }
  return spec;
}

}  // namespace

Result<HostSpec> host_spec_from_text(std::string_view text, const std::string& file, const Plugins& plugins,
                                     const Json& applied) {
  SLIPWAY_TRY(documents, base::read_yaml(text, file));
  const bool empty = std::all_of(documents.begin(), documents.end(),
                                 [](const base::YamlNode& node) { return node.kind == base::YamlNode::Kind::null; });
  if (empty) return Error{ErrorCode::invalid, "the host spec is empty", file, "`slipway init` prints a template", {}};
  if (documents.size() > 1)
    return Error{
        ErrorCode::invalid,
        "the file holds " + std::to_string(documents.size()) + " documents, but a host spec is a single document",
        base::to_text(file, documents[1].position),
        "keep one document, and remove the '---' between them",
        {}};
  return make_spec(documents.front(), file, {plugins, applied});
}

Result<HostSpec> host_spec_from_json(const Json& document, const std::string& file, const Plugins& plugins,
                                     const Json& applied) {
  return make_spec(base::yaml_from_json(document), file, {plugins, applied, true});
}

std::string HostSpec::position(const std::string& key) const {
  std::string at;  // plugins write the first element of a list as [0], positions as .0
  for (const char c : key.starts_with(kSpecPrefix) ? key.substr(kSpecPrefix.size()) : key)
    if (c != ']') at += c == '[' ? '.' : c;
  while (!at.empty()) {
    if (const auto found = positions.find(at); found != positions.end()) return found->second;
    const std::size_t dot = at.rfind('.');
    at.resize(dot == std::string::npos ? 0 : dot);
  }
  const auto whole = positions.find("spec");
  return whole != positions.end() ? whole->second : std::string{};
}

std::string source_address(const Json& source) {
  if (source.is_object()) return source.value("repository", "");
  return source.is_string() ? source.get<std::string>() : canonical(source);
}

}  // namespace slipway::core
