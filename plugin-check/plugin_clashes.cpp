// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/plugin_clashes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>

#include <slipway/regular_file.hpp>
#include <slipway/text.hpp>

#include "base/elf/elf_sections.hpp"
#include "core/spec/document.hpp"
#include "core/spec/yaml_value.hpp"

namespace slipway::plugin_check {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBeside = "plugin.beside";
constexpr const char* kNoPackages = "/no-packages";
constexpr std::size_t kMostPaths = 4;  // that a message names
constexpr std::size_t kMostOfAReason = 120;

bool means(const std::vector<std::string>& names, const core::Manifest& manifest) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == manifest.component || std::ranges::count(manifest.provides, name) != 0;
  });
}

/// Returns the other plugins' components that can be in one spec with the plugin's.
/// @param left_out  receives the reason for each that cannot
std::map<std::string, const core::Manifest*> chosen(const BesideTrial& trial,
                                                    std::map<std::string, std::string>& left_out) {
  std::vector<const core::Manifest*> all;
  for (const core::Manifest& manifest : trial.plugin.components) all.push_back(&manifest);
  std::map<std::string, const core::Manifest*> others;
  for (const core::PluginFile& file : trial.others)
    for (const core::Manifest& manifest : file.components) {
      const auto in_the_way = std::ranges::find_if(all, [&](const core::Manifest* each) {
        return means(each->conflicts, manifest) || means(manifest.conflicts, *each);
      });
      if (in_the_way != all.end()) {
        left_out[manifest.component] = "it excludes " + (*in_the_way)->component;
        continue;
      }
      all.push_back(&manifest);
      others.emplace(manifest.component, &manifest);
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = others.begin(); at != others.end();) {
      const auto is_missing = [&](const std::string& name) {
        return std::ranges::none_of(all, [&](const core::Manifest* each) { return means({name}, *each); });
      };
      const auto missing = std::ranges::find_if(at->second->requires_, is_missing);
      if (missing == at->second->requires_.end()) {
        ++at;
        continue;
      }
      left_out[at->first] = "it requires " + *missing;
      std::erase(all, at->second);
      at = others.erase(at);
      changed = true;
    }
  }
  return others;
}

/// Returns a component's section of a first spec, with another artifact source: slipway would look for an example's in
/// the network.
Json first_section(const core::Manifest& manifest, const std::string& folder) {
  Json section = Json::object();
  for (const auto& [name, schema] : manifest.spec.keys) {
    if (!schema.required) continue;
    if (schema.type == core::SchemaKey::Type::artifact_source)
      section[name] = {{"repository", folder + kNoPackages}, {"trust", "unsigned"}};
    else
      section[name] = core::first_value(schema);
  }
  return section;
}

/// Returns the user's spec, with a section for each component that it lacks.
Result<Json> whole_spec(const BesideTrial& trial, const std::map<std::string, const core::Manifest*>& others) {
  Json document{{"apiVersion", core::kApiVersion},
                {"kind", core::kHostKind},
                {"metadata", {{"name", "beside"}}},
                {"spec", {{"components", Json::object()}}}};
  if (!trial.spec.empty()) {
    SLIPWAY_TRY(plugins, core::discover_plugins({trial.folder}));
    SLIPWAY_TRY(spec, core::read_host_spec(trial.spec, plugins));
    document = spec.document;
  }
  Json& components = document["spec"]["components"];
  for (const core::Manifest& manifest : trial.plugin.components)
    if (!components.contains(manifest.component) && trial.spec.empty())
      components[manifest.component] = first_section(manifest, trial.folder);
  for (const auto& [name, manifest] : others)
    if (!components.contains(name)) components[name] = first_section(*manifest, trial.folder);
  return document;
}

/// Links all plugins into one folder.
Status link_plugins(const BesideTrial& trial) {
  std::error_code code;
  fs::create_directory(trial.folder, code);
  const auto link = [&](const core::PluginFile& file) {
    if (!code) fs::create_symlink(file.path, trial.folder + "/" + fs::path(file.path).filename().string(), code);
  };
  link(trial.plugin);
  for (const core::PluginFile& file : trial.others) link(file);
  return code ? Status(system_error("fill", trial.folder, code.value())) : Status{};
}

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= kMostOfAReason ? line : line.substr(0, line.rfind(' ', kMostOfAReason)) + " …";
}

/// The result of one plan of all components.
class SidePlan {
 public:
  SidePlan(const BesideTrial& trial, const Json& plan) : trial_(trial) {
    for (const Json& component : plan.value("components", Json::array()))
      components_[component.value("name", "")] = component;
  }

  bool is_empty() const { return components_.empty(); }

  /// Returns why the plan does not show the component's claims; empty when the plan shows them.
  std::string why_not(const std::string& name) const {
    const auto found = components_.find(name);
    if (found == components_.end()) return "the plan does not have this component";
    const Json& component = found->second;
    if (component.contains("error")) {
      const Error error = error_from_json(component["error"]);
      return names_two(error) ? "" : first_line(error.what);
    }
    const std::string state = component.value("state", "");
    const bool is_open = state == "not-applicable" || state == "blocked" || state == "deferred";
    return is_open ? state + ": " + first_line(component.value("reason", "")) : "";
  }

  /// Adds a finding for each pair of components, the plugin's and another one, with a common claim. @param told  the
  /// pairs so far
  void clashes(std::set<std::set<std::string>>& told, Findings& findings) const {
    std::vector<std::string> own;
    for (const core::Manifest& manifest : trial_.plugin.components) own.push_back(manifest.component);
    std::vector<std::string> names = own;
    for (const auto& [name, component] : components_) names.push_back(name);
    for (const std::string& name : names) {
      const auto found = components_.find(name);
      if (found == components_.end() || !found->second.contains("error")) continue;
      const Error error = error_from_json(found->second["error"]);
      if (!names_two(error)) continue;
      const std::set<std::string> both{error.details[0].first, error.details[1].first};
      if (std::ranges::none_of(own, [&](const std::string& each) { return both.contains(each); })) continue;
      if (!told.insert(both).second) continue;
      findings.fail(
          kBeside,
          error.what + "; " +
              joined(error.details, ", ", [](const auto& detail) { return detail.first + " is in " + detail.second; }),
          "leave it to the other component, or choose another name for yours: a host cannot have both");
    }
  }

 private:
  /// True for the error of two components that claim the same thing: it names the origin of both.
  bool names_two(const Error& error) const {
    return error.code == ErrorCode::conflict && error.details.size() == 2 &&
           components_.contains(error.details[0].first) &&
           (components_.contains(error.details[1].first) || error.details[1].second == "slipway itself");
  }

  const BesideTrial& trial_;
  std::map<std::string, Json> components_;
};

constexpr std::size_t kMostData = std::size_t{64} << 20U;  // of one section

/// Returns the constant data of a plugin file, section by section: everything that is loaded and not executed. Empty
/// when the file cannot be read, although its note was read before.
std::vector<std::string> data_of(const std::string& file) {
  const auto opened = open_regular(file);
  if (!opened) return {};
  const auto sections = base::ElfSections::of_file(opened->get());
  if (!sections) return {};
  std::vector<std::string> data;
  for (const Elf64_Shdr& section : sections->all()) {
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_ALLOC) == 0) continue;
    if ((section.sh_flags & SHF_EXECINSTR) != 0) continue;
    if (auto bytes = sections->content(section, kMostData)) data.push_back(std::move(*bytes));
  }
  return data;
}

/// Returns paths that only the plugin claims, and that are whole texts in the file.
std::vector<std::string> paths_in(const std::string& file, const PlanItems& items) {
  static const std::set<std::string> kWhole{"file", "symlink", "remove", "service-file", "systemd-unit", "device-node"};
  const std::vector<std::string> data = data_of(file);
  std::vector<std::string> paths;
  for (const Json& action : items.actions) {
    const std::string target = action.value("target", "");
    if (!kWhole.contains(action.value("kind", "")) || target.empty()) continue;
    const std::string text = std::string(1, '\0') + target + '\0';
    const auto contains = [&](const std::string& bytes) {
      return memmem(bytes.data(), bytes.size(), text.data(), text.size()) != nullptr;
    };
    if (std::ranges::any_of(data, contains)) paths.push_back(target);
  }
  return paths;
}

/// @param unplanned  by component: the reason
void look_into_files(const BesideTrial& trial, const std::map<std::string, std::string>& unplanned,
                     Findings& findings) {
  for (const core::PluginFile& file : trial.others) {
    std::vector<std::string> names;
    for (const core::Manifest& manifest : file.components)
      if (unplanned.contains(manifest.component)) names.push_back(manifest.component);
    if (names.empty()) continue;
    const std::vector<std::string> paths = paths_in(file.path, trial.items);
    if (!paths.empty())
      findings.warning(kBeside,
                       file.path + " contains " + first_few(paths, kMostPaths) + ", which your plugin claims; " +
                           listed(names, "and") + " could not be planned here, so the conflict is not certain",
                       "repeat the check with a spec (-f FILE) that has " + listed(names, "and") +
                           " and all that they need, or choose another path");
  }
}

}  // namespace

Status plan_beside(const BesideTrial& trial, Findings& findings) {
  if (trial.others.empty()) {
    findings.not_exercised(kBeside, "no other plugin is installed here");
    return {};
  }
  SLIPWAY_CHECK(link_plugins(trial));
  std::map<std::string, std::string> unplanned;
  const auto others = chosen(trial, unplanned);
  const auto spec = whole_spec(trial, others);
  if (!spec) {
    findings.not_exercised(kBeside, "not planned together with other plugins: " + first_line(spec.error().what));
    return {};
  }
  const std::string file = trial.folder + "/beside.json";
  std::ofstream(file) << canonical(*spec) << '\n';
  const Trial host = trial.host.with({"SLIPWAY_PLUGIN_PATH=" + trial.folder}).of_spec(file);
  std::set<std::set<std::string>> told;
  for (const auto& [name, manifest] : others)
    unplanned[name] =
        canonical((*spec)["spec"]["components"][name]).find(trial.folder + kNoPackages) == std::string::npos
            ? ""
            : "it needs packages";
  // A component that needs, for example, a loaded driver may still have a plan for an image.
  for (const Trial& machine : {host, host.as_machine("")}) {
    SLIPWAY_TRY(planned, machine.plan());
    const SidePlan plan(trial, planned.result);
    if (plan.is_empty()) {
      std::string why = output_of(planned);
      std::ranges::replace(why, '\n', ' ');
      findings.not_exercised(kBeside, "not planned together with other plugins" + why);
      return {};
    }
    plan.clashes(told, findings);
    for (const auto& [name, manifest] : others)
      if (const auto open = unplanned.find(name); open != unplanned.end()) {
        const std::string why = plan.why_not(name);
        if (why.empty())
          unplanned.erase(open);
        else if (open->second.empty())
          open->second = why;
      }
    if (unplanned.empty()) break;
  }
  look_into_files(trial, unplanned, findings);
  std::vector<std::string> planned;
  for (const auto& [name, manifest] : others)
    if (!unplanned.contains(name)) planned.push_back(name);
  if (told.empty() && !planned.empty())
    findings.pass(kBeside, "no file, unit or key of this plugin is also claimed by " + listed(planned, "or"));
  if (!unplanned.empty())
    findings.not_exercised(
        kBeside, "not planned together with this plugin: " +
                     joined(unplanned, "; ", [](const auto& each) { return each.first + " (" + each.second + ")"; }));
  return {};
}

}  // namespace slipway::plugin_check
