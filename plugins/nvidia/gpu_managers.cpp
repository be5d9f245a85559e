// SPDX-License-Identifier: Apache-2.0
#include "nvidia/gpu_managers.hpp"

#include <algorithm>
#include <cctype>

namespace slipway::nvidia {
namespace {

/// In one form, whatever the domain's length, the case and the function: "00000000:0F:00.0" and "0f:00" as
/// "0000:0f:00".
std::string pci_address(std::string address) {
  std::ranges::transform(address, address.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const std::size_t function = address.rfind('.'); function != std::string::npos) address.resize(function);
  if (std::ranges::count(address, ':') == 1) address.insert(0, "0000:");
  constexpr std::size_t kDomain = 4;
  while (address.find(':') != std::string::npos && address.find(':') > kDomain && address.front() == '0')
    address.erase(0, 1);
  return address;
}

}  // namespace

const std::string& GpuManagers::manager_of(const std::string& address, const std::string& uuid) const {
  if (const auto found = of.find(uuid); found != of.end()) return found->second;
  const std::string wanted = pci_address(address);
  for (const auto& [name, manager] : of)
    if (!name.starts_with("GPU-") && pci_address(name) == wanted) return manager;
  return otherwise;
}

Result<GpuManagers> read_gpu_managers(const Host& host) {
  const auto text = host.read(kManagersFile);
  if (!text && text.error().code == ErrorCode::not_found) return GpuManagers();
  if (!text) return text.error();
  const Json file = Json::parse(*text, nullptr, false);
  const bool good = file.is_object() && file.value("kind", "") == "GpuManagers" &&
                    file.value("default", Json()).is_string() && file.value("gpus", Json::object()).is_object();
  const Error corrupt{.code = ErrorCode::corrupt,
                      .what = "the file says in no form that is known who manages which GPU",
                      .where = kManagersFile,
                      .next = "`slipway apply` writes it anew"};
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
