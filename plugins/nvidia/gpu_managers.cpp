// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpu_managers.hpp"

#include <slipway/trusted_owner.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {
const std::string& GpuManagers::manager_of(const std::string& address, const std::string& uuid) const {
  if (const auto found = of.find(uuid); found != of.end()) return found->second;
  const std::string wanted = pci_place(address);
  for (const auto& [name, manager] : of)
    if (!name.starts_with("GPU-") && pci_place(name) == wanted) return manager;
  return otherwise;
}

Result<GpuManagers> read_gpu_managers(const Host& host) {
  const auto text = read_trusted(host, kManagersFile);
  if (!text && text.error().code == ErrorCode::not_found) return GpuManagers();
  if (!text) return text.error();
  const Json file = Json::parse(*text, nullptr, false);
  const bool good = file.is_object() && file.value("kind", Json()) == Json("GpuManagers") &&
                    file.value("default", Json()).is_string() && file.value("gpus", Json(Json::object())).is_object();
  const Error corrupt{.code = ErrorCode::corrupt,
                      .what = "this file, which assigns GPUs to components, has an unknown format",
                      .where = kManagersFile,
                      .next = "`slipway apply` writes a new one"};
  if (!good) return corrupt;
  GpuManagers managers;
  managers.otherwise = file.value("default", kDevicePlugin);
  const Json gpus = file.value("gpus", Json::object());
  for (const auto& [gpu, manager] : gpus.items()) {
    if (!manager.is_string()) return corrupt;
    managers.of[gpu] = manager;
  }
  return managers;
}

Json to_json(const GpuManagers& managers) {
  return {{"apiVersion", "slipway.dev/v1"},
          {"kind", "GpuManagers"},
          {"default", managers.otherwise},
          {"gpus", managers.of}};
}

}  // namespace slipway::nvidia
