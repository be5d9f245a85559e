// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "nvidia/config/flags.hpp"
#include "nvidia/config/keys.hpp"

namespace slipway::nvidia::config {
namespace {

bool all_digits(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// True for "0", "0:1", "GPU-…", "MIG-…".
bool names_a_device(const std::string& text) {
  if (text.starts_with("GPU-") || text.starts_with("MIG-")) return true;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return all_digits(text);
  return all_digits(text.substr(0, colon)) && all_digits(text.substr(colon + 1));
}

Result<DeviceChoice> read_devices(const Node& node) {
  DeviceChoice choice;
  if (node.is_null() || (node.is_scalar() && node.text == "all")) return choice;
  choice.all = false;
  if (node.is_scalar() && !node.quoted) {
    const auto count = node.number();
    if (!count || *count < 1)
      return node.wrong("'" + node.text + "' devices cannot be shared", "use all, a number, or a list");
    choice.count = static_cast<unsigned>(*count);
    return choice;
  }
  SLIPWAY_TRY(texts, node.strings());
  for (const std::string& text : texts)
    if (!names_a_device(text))
      return node.wrong("'" + text + "' names no device", "use indexes (0, 0:1) or UUIDs (GPU-…, MIG-…)");
  choice.list = texts;
  return choice;
}

Result<unsigned> read_replicas(const Node& node, const Node& around) {
  if (node.is_null()) return around.wrong("replicas is missing", "say how many containers share a device: replicas: 4");
  SLIPWAY_TRY(number, node.number());
  if (number < 2 || number > kMostReplicas)
    return node.wrong("replicas: " + node.text + " is not between 2 and " + std::to_string(kMostReplicas),
                      "leave the resource out if it is not to be shared");
  return static_cast<unsigned>(number);
}

Result<SharedResource> read_resource(const Node& node, std::vector<std::string>& warnings) {
  SharedResource resource;
  resource.where = node.where;
  // With a misspelt key nothing would be shared, or the wrong devices.
  SLIPWAY_CHECK(check_keys(node, {"name", "rename", "replicas", "devices", "products"}, Typos::refused, warnings));
  const auto name = node.at("name").string();
  if (!name) return node.wrong("a shared resource needs a name", "for example name: nvidia.com/gpu");
  SLIPWAY_TRY(full, full_resource_name(*name, node.at("name")));
  resource.name = full;
  if (const Node& rename = node.at("rename"); !rename.is_null()) {
    SLIPWAY_TRY(text, rename.string());
    SLIPWAY_TRY(other, full_resource_name(text, rename));
    resource.rename = other;
  }
  SLIPWAY_TRY(replicas, read_replicas(node.at("replicas"), node));
  resource.replicas = replicas;
  SLIPWAY_TRY(devices, read_devices(node.at("devices")));
  resource.devices = devices;
  if (const Node& products = node.at("products"); !products.is_null()) {
    SLIPWAY_TRY(patterns, products.strings());
    resource.devices.products = patterns;
    resource.devices.all = false;
  }
  return resource;
}

/// Reads "1.5" as 150. Allows two digits behind the point, so that no value is rounded.
Result<unsigned> read_oversubscription(const Node& node) {
  constexpr unsigned kMost = 10;
  const std::string text = node.is_scalar() ? node.text : "";
  const auto point = text.find('.');
  const std::string whole = text.substr(0, point);
  std::string part = point == std::string::npos ? "00" : text.substr(point + 1);
  if (part.size() == 1) part += "0";
  const bool is_number = all_digits(whole) && whole.size() <= 2 && all_digits(part) && part.size() == 2;
  const unsigned percent = is_number ? static_cast<unsigned>(std::stoul(whole) * kWholeShare + std::stoul(part)) : 0;
  if (percent < kWholeShare || percent > kMost * kWholeShare)
    return node.wrong(
        "oversubscription: " + text + " is not a number from 1 to " + std::to_string(kMost),
        "write how much of its share of the memory a client may have, with at most two digits after the point: 1.5");
  return percent;
}

Result<Sharing> read_sharing(const Node& node, SharingKind kind, std::vector<std::string>& warnings) {
  const bool mps = kind == SharingKind::mps;
  std::vector<std::string> known{"renameByDefault", "failRequestsGreaterThanOne", "strictSpread", "resources",
                                 "replicas"};
  if (mps) known.emplace_back("oversubscription");
  SLIPWAY_CHECK(check_keys(node, known, Typos::refused, warnings));
  const Node& ratio = node.at("oversubscription");
  if (!mps && !ratio.is_null())
    return ratio.wrong("oversubscription has no effect on time-slicing, which does not limit memory",
                       "write it below sharing.mps, or leave it out");
  Sharing sharing;
  sharing.kind = kind;
  sharing.fail_requests_greater_than_one = mps;
  if (!ratio.is_null()) {
    SLIPWAY_TRY(percent, read_oversubscription(ratio));
    sharing.mps_memory_percent = percent;
  }
  const auto flag = [&node](const char* key, bool& value) -> Status {
    const Node& found = node.at(key);
    return found.is_null() ? Status() : set_flag(found, value);
  };
  SLIPWAY_CHECK(flag("renameByDefault", sharing.rename_by_default));
  SLIPWAY_CHECK(flag("failRequestsGreaterThanOne", sharing.fail_requests_greater_than_one));
  SLIPWAY_CHECK(flag("strictSpread", sharing.strict_spread));
  const Node& list = node.at("resources");
  if (const Node& replicas = node.at("replicas"); !list.is_null() && !replicas.is_null())
    warnings.push_back(replicas.key_where +
                       ": 'replicas' has no effect here, since there are resources: each of them has its own replicas");
  if (const Node& replicas = node.at("replicas"); list.is_null() && !replicas.is_null()) {
    SLIPWAY_TRY(number, read_replicas(replicas, node));
    sharing.resources.push_back({.name = {}, .rename = {}, .replicas = number, .devices = {}, .where = node.where});
    return sharing;
  }
  if (!list.is_list() || list.items.empty())
    return node.wrong("no resources are shared here", "list them: resources: [{name: nvidia.com/gpu, replicas: 4}]");
  for (const Node& item : list.items) {
    SLIPWAY_TRY(resource, read_resource(item, warnings));
    sharing.resources.push_back(resource);
  }
  return sharing;
}

/// The effective config of NVIDIA's plugin prints `timeSlicing: {}` for "not shared".
bool is_empty(const Node& node) { return node.is_null() || (node.is_map() && node.keys.empty()); }

}  // namespace

Status take_sharing(const Node& node, Settings& settings) {
  SLIPWAY_CHECK(check_keys(node, {"timeSlicing", "mps"}, Typos::refused, settings.warnings));
  const Node& slicing = node.at("timeSlicing");
  const Node& mps = node.at("mps");
  if (!is_empty(slicing) && !is_empty(mps))
    settings.warnings.push_back(mps.where + ": timeSlicing and mps are both given; mps is used");
  if (!is_empty(slicing)) {
    SLIPWAY_TRY(sharing, read_sharing(slicing, SharingKind::time_slicing, settings.warnings));
    settings.sharing = sharing;
  }
  if (!is_empty(mps)) {
    SLIPWAY_TRY(sharing, read_sharing(mps, SharingKind::mps, settings.warnings));
    settings.sharing = sharing;
  }
  return {};
}

}  // namespace slipway::nvidia::config
