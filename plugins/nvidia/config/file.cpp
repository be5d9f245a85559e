// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/file.cpp - NVIDIA's config file, version v1, key by key.
#include <algorithm>

#include <slipway/text.hpp>

#include "nvidia/config/flags.hpp"
#include "nvidia/config/keys.hpp"

namespace slipway::nvidia::config {
namespace {

constexpr Key<Settings> kPlugin[] = {
    {"passDeviceSpecs", [](const Node& node, Settings& s) { return set_flag(node, s.pass_device_specs); }},
    {"deviceListStrategy", set_list_strategies},
    {"deviceIDStrategy", set_id_strategy},
    {"cdiAnnotationPrefix", [](const Node& node, Settings& s) { return set_text(node, s.cdi_annotation_prefix); }},
    {"sharedDevicesAllocationPolicy", set_policy},
    {"nvidiaCTKPath", kIgnore},  // the component cdi writes the specs
    {"nvidiaCDIHookPath", kIgnore},
    {"containerDriverRoot", kIgnore},  // there is no container between the service and the host
};

constexpr Key<Settings> kFlags[] = {
    {"migStrategy", set_mig_strategy},
    {"failOnInitError", [](const Node& node, Settings& s) { return set_flag(node, s.fail_on_init_error); }},
    {"mpsRoot", set_mps_root},
    {"nvidiaDriverRoot", [](const Node& node, Settings& s) { return set_text(node, s.driver_root); }},
    {"nvidiaDevRoot", [](const Node& node, Settings& s) { return set_text(node, s.dev_root); }},
    {"gdrcopyEnabled", [](const Node& node, Settings& s) { return set_flag(node, s.gdrcopy); }},
    {"gdsEnabled", [](const Node& node, Settings& s) { return set_flag(node, s.gds); }},
    {"mofedEnabled", [](const Node& node, Settings& s) { return set_flag(node, s.mofed); }},
    {"useNodeFeatureAPI", [](const Node& node, Settings& s) { return set_flag(node, s.use_node_feature_api); }},
    {"deviceDiscoveryStrategy", set_discovery},
    {"plugin", [](const Node& node, Settings& s) { return take(node, kPlugin, s); }},
    {"gfd", [](const Node& node, Settings& s) { return s.gfd = node, Status(); }},
};

Status take_names(const Node& list, std::vector<NamePattern>& names, std::vector<std::string>& warnings) {
  if (!list.is_list()) return list.wrong("expected a list", "write - {pattern: \"*\", name: gpu}");
  for (const Node& item : list.items) {
    SLIPWAY_CHECK(check_keys(item, {"pattern", "name"}, Typos::warned_of, warnings));
    const auto pattern = item.at("pattern").string();
    const auto name = item.at("name").string();
    if (!pattern || !name)
      return item.wrong("an entry needs both pattern and name", "write {pattern: \"NVIDIA A100*\", name: a100}");
    SLIPWAY_TRY(full, full_resource_name(*name, item.at("name")));
    names.push_back({*pattern, full});
  }
  return {};
}

constexpr Key<Settings> kResources[] = {
    {"gpus", [](const Node& node, Settings& s) { return take_names(node, s.gpu_names, s.warnings); }},
    {"mig", [](const Node& node, Settings& s) { return take_names(node, s.mig_names, s.warnings); }},
};

constexpr Key<Settings> kImex[] = {
    {"channelIDs", set_imex_channels},
    {"required", [](const Node& node, Settings& s) { return set_flag(node, s.imex_required); }},
};

// The short form: mig: {strategy: mixed}.
constexpr Key<Settings> kMig[] = {{"strategy", set_mig_strategy}};

Status take_version(const Node& node, Settings&) {
  if (node.text == "v1") return {};
  return node.wrong("unknown version '" + node.text + "' of the configuration", "version: v1 is the only one");
}

constexpr Key<Settings> kRoot[] = {
    {"version", take_version},
    {"flags", [](const Node& node, Settings& s) { return take(node, kFlags, s); }},
    {"resources", [](const Node& node, Settings& s) { return take(node, kResources, s); }},
    {"sharing", take_sharing},
    {"imex", [](const Node& node, Settings& s) { return take(node, kImex, s); }},
    {"mig", [](const Node& node, Settings& s) { return take(node, kMig, s); }},
};

/// True when some machine may offer the resource: nvidia.com/gpu, a MIG profile, or a name that the config gives.
bool may_exist(const std::string& resource, const std::set<std::string>& given) {
  constexpr std::string_view kMigName = "nvidia.com/mig-";
  return resource.empty() || resource == "nvidia.com/gpu" || given.contains(resource) ||
         (resource.starts_with(kMigName) && resource.size() > kMigName.size() && resource[kMigName.size()] >= '0' &&
          resource[kMigName.size()] <= '9');
}

void warn_of_impossible_names(Settings& settings) {
  const std::set<std::string> given = given_names(settings);
  for (SharedResource& entry : settings.sharing.resources) {
    entry.may_exist = may_exist(entry.name, given);
    if (entry.may_exist) continue;
    std::vector<std::string> known(given.begin(), given.end());
    known.emplace_back("nvidia.com/gpu");
    settings.warnings.push_back(entry.where + ": no GPU and no MIG device is offered as " + entry.name +
                                ", so this entry shares nothing" + did_you_mean(entry.name, known));
  }
}

}  // namespace

Status take_config(const Node& root, Settings& settings) {
  SLIPWAY_CHECK(take(root, kRoot, settings));
  warn_of_impossible_names(settings);
  return {};
}

Result<std::string> full_resource_name(const std::string& name, const Node& node) {
  constexpr std::size_t kLongest = 63;
  const std::string full = name.find('/') == std::string::npos ? "nvidia.com/" + name : name;
  const std::string part = full.substr(full.find('/') + 1);
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto allowed = [&plain](char c) { return plain(c) || c == '-' || c == '.'; };
  bool good = !part.empty() && std::ranges::all_of(part, allowed) && plain(part.back());
  for (std::size_t i = 0; good && i < part.size(); ++i)  // each label begins and ends with a letter or digit
    if (part[i] == '.' || i == 0) good = plain(part[part[i] == '.' ? i + 1 : i]) && (i == 0 || plain(part[i - 1]));
  if (good && full.size() <= kLongest && full.find('/') > 0) return full;
  return node.wrong("'" + full + "' is not a resource name",
                    "use at most 63 letters, lower-case letters, digits, - and . after the slash, like nvidia.com/gpu");
}

}  // namespace slipway::nvidia::config
