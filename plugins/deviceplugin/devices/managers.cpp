// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/managers.hpp"

namespace slipway::deviceplugin {

Result<Managers> read_managers(const Host& host) {
  const auto text = host.read(kManagersFile);
  if (!text && text.error().code == ErrorCode::not_found) return Managers();
  if (!text) return text.error();
  const Json file = Json::parse(*text, nullptr, false);
  const bool good = file.is_object() && file.value("kind", "") == "GpuManagers" &&
                    file.value("default", Json()).is_string() && file.value("gpus", Json::object()).is_object();
  const Error corrupt{.code = ErrorCode::corrupt,
                      .what = "the file says in no form that is known who manages which GPU",
                      .where = kManagersFile,
                      .next = "`slipway apply` writes it anew"};
  if (!good) return corrupt;
  Managers managers;
  managers.otherwise = file.value("default", kManager);
  const Json gpus = file.value("gpus", Json::object());
  for (const auto& [gpu, manager] : gpus.items()) {
    if (!manager.is_string()) return corrupt;
    managers.of[gpu] = manager;
  }
  return managers;
}

Json to_json(const Managers& managers) {
  return {{"apiVersion", "slipway.dev/v1"},
          {"kind", "GpuManagers"},
          {"default", managers.otherwise},
          {"gpus", managers.of}};
}

void apply_managers(const Managers& managers, std::vector<Gpu>& gpus) {
  for (Gpu& gpu : gpus) {
    std::string manager = managers.otherwise;
    for (const std::string& name : {gpu.address, gpu.uuid})
      if (const auto found = managers.of.find(name); found != managers.of.end()) manager = found->second;
    gpu.offered = manager == kManager;
  }
}

}  // namespace slipway::deviceplugin
