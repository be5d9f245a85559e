// SPDX-License-Identifier: Apache-2.0
// oci-hooks(5): a JSON file for each hook, in folders that podman and CRI-O read by default.
#include <algorithm>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kHookFolders[] = {"/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d"};
constexpr const char* kHookPrograms[] = {"nvidia-container-runtime-hook", "nvidia-container-toolkit"};

}  // namespace

std::vector<std::string> legacy_hooks(const Host& host) {
  std::vector<std::string> paths;
  if (find_program(host, "podman").empty() && find_program(host, "crio").empty()) return paths;
  for (const std::string folder : kHookFolders) {
    const auto names = host.list(folder).value_or({});
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      const Json hook = name.ends_with(".json") ? parse_foreign(host.read(path).value_or("")) : Json();
      const std::string program = file_name(text_of(at_path(hook, {"hook"}), "path"));
      if (std::ranges::count(kHookPrograms, program) != 0) paths.push_back(path);
    }
  }
  return paths;
}

}  // namespace slipway::toolkit
