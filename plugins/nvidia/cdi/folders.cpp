// SPDX-License-Identifier: Apache-2.0
#include "nvidia/cdi/folders.hpp"

#include "nvidia/cdi/text.hpp"

namespace slipway::nvidia::cdi {
namespace {

constexpr const char* kOwnFile = "/nvidia.com-gpu.yaml";  // file name of the component cdi
constexpr const char* kToolkitFile = "/nvidia.yaml";      // file name of NVIDIA's container toolkit

void add_conflict(const std::string& first, const std::string& second, const std::string& device, SpecFolders& found) {
  for (SpecConflict& conflict : found.conflicts)
    if (conflict.first == first && conflict.second == second) return conflict.devices.push_back(device);
  found.conflicts.push_back({first, second, {device}});
}

/// Adds the specs of one folder, which override those of the folders before it.
void read_folder(const Host& host, const std::string& folder, SpecFolders& found) {
  std::map<std::string, std::string> here;
  for (const std::string& path : spec_files(host, folder)) {
    const auto text = host.read(path, kMaxSpecBytes);
    const auto spec = text ? parse_and_validate(*text, path) : Result<Spec>(text.error());
    if (!spec) {
      found.problems.push_back(spec.error());
      continue;
    }
    for (const auto& device : spec->devices) {
      const std::string qualified = spec->kind + "=" + device.name;
      const auto [at, fresh] = here.emplace(qualified, path);
      if (!fresh) add_conflict(at->second, path, qualified, found);
    }
  }
  for (const auto& [name, path] : here) found.devices[name] = path;
}

}  // namespace

std::vector<std::string> default_spec_folders() { return {"/etc/cdi", "/var/run/cdi"}; }

std::vector<std::string> spec_files(const Host& host, const std::string& folder) {
  std::vector<std::string> files;
  const auto names = host.list(folder).value_or({});
  for (const std::string& name : names)
    if (name.ends_with(".json") || name.ends_with(".yaml")) files.push_back(folder + "/" + name);
  return files;
}

SpecFolders read_spec_folders(const Host& host, const std::vector<std::string>& folders) {
  SpecFolders found;
  for (const std::string& folder : folders) read_folder(host, folder, found);
  for (const SpecConflict& conflict : found.conflicts)
    for (const std::string& device : conflict.devices) found.devices.erase(device);
  return found;
}

std::string to_text(const SpecConflict& conflict) {
  const std::size_t others = conflict.devices.size() - 1;
  return conflict.first + " and " + conflict.second + " both have " + conflict.devices.front() +
         (others == 0   ? ""
          : others == 1 ? " and another device"
                        : " and " + std::to_string(others) + " other devices");
}

std::string remedy_for(const SpecConflict& conflict) {
  for (const std::string& path : {conflict.first, conflict.second})
    if (path.ends_with(kToolkitFile))
      return "NVIDIA's container toolkit writes " + path +
             ": run `systemctl disable --now nvidia-cdi-refresh.path nvidia-cdi-refresh.service`, then remove the file";
  for (const auto& [path, other] : {std::pair(conflict.first, conflict.second), {conflict.second, conflict.first}})
    if (path.ends_with(kOwnFile))
      return "remove " + other + ", and stop the program that wrote it from writing more specs";
  return "keep one of the two files, and stop the program that wrote the other from writing more specs";
}

}  // namespace slipway::nvidia::cdi
