// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "nvidia/cdi/text.hpp"
#include "toolkit/cdi/component/spec_file.hpp"

namespace slipway::toolkit {
namespace {

/// What one folder has; a name that two of its files have belongs to nobody.
void read_folder(const Host& host, const std::string& folder, SpecFolders& found) {
  std::map<std::string, std::string> here;
  std::set<std::string> refused;
  const auto names = host.list(folder).value_or({});
  for (const std::string& name : names) {
    if (!name.ends_with(".json") && !name.ends_with(".yaml")) continue;
    const std::string path = folder + "/" + name;
    const auto text = host.read(path, nvidia::cdi::kMaxSpecBytes);
    const auto spec = text ? nvidia::cdi::parse_and_validate(*text, path) : Result<nvidia::cdi::Spec>(text.error());
    if (!spec) {
      found.problems.push_back(spec.error());
      continue;
    }
    for (const auto& device : spec->devices) {
      const std::string qualified = spec->kind + "=" + device.name;
      const auto [at, fresh] = here.emplace(qualified, path);
      if (fresh) continue;
      found.conflicts.push_back(at->second + " and " + path + " both have " + qualified);
      refused.insert(qualified);
    }
  }
  for (const auto& [name, path] : here) found.devices[name] = path;
  for (const std::string& name : refused) found.devices.erase(name);
}

}  // namespace

std::vector<std::string> default_spec_folders() { return {"/etc/cdi", "/var/run/cdi"}; }

SpecFolders read_spec_folders(const Host& host, const std::vector<std::string>& folders) {
  SpecFolders found;
  for (const std::string& folder : folders) read_folder(host, folder, found);
  return found;
}

}  // namespace slipway::toolkit
