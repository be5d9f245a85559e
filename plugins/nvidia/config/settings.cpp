// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/settings.hpp"

#include <algorithm>
#include <cctype>

#include <slipway/text.hpp>

namespace slipway::nvidia::config {
namespace {

bool is_cdi(ListStrategy strategy) {
  return strategy == ListStrategy::cdi_annotations || strategy == ListStrategy::cdi_cri;
}

Json names_json(const std::vector<NamePattern>& patterns) {
  Json list = Json::array();
  for (const NamePattern& each : patterns) list.push_back({{"pattern", each.pattern}, {"name", each.name}});
  return list;
}

Json devices_json(const DeviceChoice& devices) {
  if (devices.count) return *devices.count;
  if (!devices.products.empty()) return {{"products", devices.products}};
  return devices.all ? Json("all") : Json(devices.list);
}

Json sharing_json(const Sharing& sharing) {
  if (sharing.kind == SharingKind::none) return Json::object();
  Json resources = Json::array();
  for (const SharedResource& each : sharing.resources)
    resources.push_back({{"name", each.name},
                         {"rename", each.rename},
                         {"replicas", each.replicas},
                         {"devices", devices_json(each.devices)}});
  const std::string key = sharing.kind == SharingKind::mps ? "mps" : "timeSlicing";
  Json json{{key,
             {{"renameByDefault", sharing.rename_by_default},
              {"failRequestsGreaterThanOne", sharing.fail_requests_greater_than_one},
              {"strictSpread", sharing.strict_spread},
              {"resources", resources}}}};
  if (sharing.kind == SharingKind::mps) json[key]["oversubscription"] = sharing.mps_memory_percent / 100.0;
  return json;
}

Json flags_json(const Settings& settings) {
  std::vector<std::string> strategies;
  for (const ListStrategy each : settings.list_strategies) strategies.emplace_back(to_string(each));
  const bool packed = settings.policy == AllocationPolicy::packed;
  Json flags{{"migStrategy", to_string(settings.mig_strategy)},
             {"mpsRoot", settings.mps_root},
             {"nvidiaDriverRoot", settings.driver_root},
             {"nvidiaDevRoot", settings.host_dev_root()},
             {"gdrcopyEnabled", settings.gdrcopy},
             {"gdsEnabled", settings.gds},
             {"mofedEnabled", settings.mofed},
             {"plugin",
              {{"passDeviceSpecs", settings.pass_device_specs},
               {"deviceListStrategy", strategies},
               {"deviceIDStrategy", settings.id_strategy == IdStrategy::uuid ? "uuid" : "index"},
               {"cdiAnnotationPrefix", settings.cdi_annotation_prefix},
               {"sharedDevicesAllocationPolicy", packed ? "packed" : "distributed"}}}};
  if (settings.fail_on_init_error) flags["failOnInitError"] = true;
  return flags;
}

}  // namespace

std::string_view to_string(SharingKind kind) {
  if (kind == SharingKind::none) return "none";
  return kind == SharingKind::mps ? "mps" : "time-slicing";
}

bool Settings::any_cdi() const { return std::ranges::any_of(list_strategies, is_cdi); }
bool Settings::only_cdi() const { return std::ranges::all_of(list_strategies, is_cdi); }

bool Settings::operator==(const Settings& other) const { return to_json(*this) == to_json(other); }

std::set<std::string> given_names(const Settings& settings) {
  std::set<std::string> names;
  for (const auto* patterns : {&settings.gpu_names, &settings.mig_names})
    for (const NamePattern& each : *patterns) names.insert({each.name, each.name + ".shared"});
  for (const SharedResource& each : settings.sharing.resources)
    if (!each.rename.empty()) names.insert(each.rename);
  return names;
}

Json to_json(const Settings& settings) {
  return {{"version", "v1"},
          {"flags", flags_json(settings)},
          {"resources", {{"gpus", names_json(settings.gpu_names)}, {"mig", names_json(settings.mig_names)}}},
          {"sharing", sharing_json(settings.sharing)},
          {"imex", {{"channelIDs", settings.imex_channels}, {"required", settings.imex_required}}},
          {"healthChecks", {{"disabled", settings.health_checks_off}, {"enabled", settings.health_checks_on}}}};
}

Status check_settings(const Settings& settings) {
  const auto wrong = [](std::string what, std::string next) -> Status {
    return Error{.code = ErrorCode::invalid, .what = std::move(what), .where = {}, .next = std::move(next)};
  };
  if (settings.sharing.kind == SharingKind::mps && settings.mig_strategy == MigStrategy::mixed)
    return wrong("MPS does not share MIG devices", "use migStrategy none with MPS, or timeSlicing with MIG");
  if (settings.imex_channels.size() > 1 || (settings.imex_channels.size() == 1 && settings.imex_channels[0] != 0))
    return wrong("imex.channelIDs can only be [] or [0]", "several channels need dynamic resource allocation (DRA)");
  if (settings.list_strategies.empty())
    return wrong("deviceListStrategy is empty: no container would see its GPU", "use envvar or cdi-cri");
  return {};
}

std::vector<std::string> words_of(std::string_view list) {
  std::string lower(list);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return split_list(lower);
}

bool names_all(std::string_view list) { return std::ranges::count(words_of(list), "all") != 0; }

std::vector<std::string> words_that_are_not_xids(std::string_view list) {
  std::vector<std::string> words = words_of(list);
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || word == "all" || word == "xids" || word.find_first_not_of("0123456789") == std::string::npos;
  });
  return words;
}

std::string first_fit(const std::vector<NamePattern>& names, const std::string& text, const std::string& otherwise) {
  const auto found = std::ranges::find_if(names, [&text](const NamePattern& each) { return fits(each.pattern, text); });
  return found == names.end() ? otherwise : found->name;
}

bool fits(std::string_view pattern, std::string_view text) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  // Each part between two stars is matched at its first occurrence: a later one could not match more.
  for (pattern.remove_prefix(star + 1); (star = pattern.find('*')) != pattern.npos; pattern.remove_prefix(star + 1)) {
    const std::size_t found = text.find(pattern.substr(0, star));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + star);
  }
  return text.ends_with(pattern);
}

}  // namespace slipway::nvidia::config
