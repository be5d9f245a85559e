// SPDX-License-Identifier: Apache-2.0
#include "core/loader/service_device.hpp"

#include <filesystem>
#include <fstream>

#include <fnmatch.h>

namespace slipway::core {

bool has_device(const Json& service_file, const std::string& sys) {
  if (!service_file.contains("device") || !service_file["device"].is_string()) return true;
  const auto glob = service_file["device"].get<std::string>();
  std::error_code problem;
  const std::string bus = glob.substr(0, glob.find(':'));
  for (const auto& entry : std::filesystem::directory_iterator(sys + "/bus/" + bus + "/devices", problem)) {
    std::string alias;
    std::getline(std::ifstream(entry.path() / "modalias"), alias);
    if (::fnmatch(glob.c_str(), alias.c_str(), 0) == 0) return true;
  }
  return false;
}

}  // namespace slipway::core
