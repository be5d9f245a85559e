// SPDX-License-Identifier: Apache-2.0
#include "mig/layout/target.hpp"

#include <algorithm>

namespace slipway::mig {

Json to_json(const Target& target) {
  Json json{{"gpu", target.address},
            {"uuid", target.uuid},
            {"enabled", target.enabled},
            {"instances", to_json(target.instances)}};
  if (!target.unplaced.empty()) json["devices"] = to_json(target.unplaced);
  if (!target.where.empty()) json["where"] = target.where;
  return json;
}

Result<Target> target_from_json(const Json& value) {
  try {
    Target target{.address = value.at("gpu").get<std::string>(),
                  .uuid = value.at("uuid").get<std::string>(),
                  .enabled = value.at("enabled").get<bool>(),
                  .instances = {},
                  .unplaced = {},
                  .where = value.value("where", "")};
    SLIPWAY_TRY(instances, instances_from_json(value.at("instances")));
    target.instances = std::move(instances);
    const Json devices = value.value("devices", Json::object());
    for (const auto& [name, count] : devices.items()) {
      SLIPWAY_TRY(profile, parse_profile(name, "action"));
      target.unplaced[profile] = count.get<unsigned>();
    }
    return target;
  } catch (const Json::exception& problem) {
    return Error{.code = ErrorCode::plugin_defect,
                 .what = std::string("the action's data do not have the expected form: ") + problem.what()};
  }
}

Target present(const Gpu& gpu) {
  return {.address = gpu.address,
          .uuid = gpu.uuid,
          .enabled = gpu.enabled,
          .instances = gpu.instances,
          .unplaced = {},
          .where = {}};
}

bool matches_target(const Gpu& gpu, const Target& target) {
  if (gpu.enabled != target.enabled || gpu.pending != target.enabled) return false;
  if (!target.enabled) return true;
  // A GPU instance that is not a device takes room that the config does not give it.
  const auto is_empty = [](const GpuInstance& each) { return each.compute.empty(); };
  if (std::ranges::count_if(gpu.instances, is_empty) != std::ranges::count_if(target.instances, is_empty)) return false;
  const Counts wanted = target.unplaced.empty() ? layout_of(gpu, true, target.instances).devices : target.unplaced;
  return layout_of(gpu).devices == wanted;
}

}  // namespace slipway::mig
