// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/containerd/config.hpp"

#include <algorithm>

#include <fnmatch.h>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

bool is_ours(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::count(names, name) != 0 || name.starts_with("nvidia");
}

}  // namespace

KeyPath operator+(KeyPath path, const KeyPath& more) {
  path.insert(path.end(), more.begin(), more.end());
  return path;
}

KeyPath cri_plugin(int config_version) {
  if (config_version <= 1) return {"plugins", "cri"};
  return {"plugins", config_version == 2 ? "io.containerd.grpc.v1.cri" : "io.containerd.cri.v1.runtime"};
}

Result<ConfigFile> read_config(const Host& host, const std::string& path) {
  const auto text = host.read(path);
  if (!text && text.error().code == ErrorCode::not_found) return ConfigFile{path, Json::object()};
  if (!text) return text.error();
  SLIPWAY_TRY(value, parse_toml(*text, path));
  return ConfigFile{path, std::move(value)};
}

std::vector<std::string> import_patterns(const ConfigFile& top) {
  std::vector<std::string> patterns;
  const Json imports = top.value.value("imports", Json::array());
  for (const Json& import : imports) {
    if (!import.is_string()) continue;
    std::string pattern = import.get<std::string>();
    // As containerd does it: a pattern counts from its working directory, which is "/", a plain name from the file.
    const bool is_pattern = pattern.find('*') != std::string::npos;
    if (!pattern.starts_with('/')) pattern = (is_pattern ? "" : folder_of(top.path)) + "/" + pattern;
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

std::string import_folder(const ConfigFile& top, const std::string& name) {
  for (const std::string& pattern : import_patterns(top))
    if (pattern.find('*') != std::string::npos && folder_of(pattern).find('*') == std::string::npos &&
        ::fnmatch(file_name(pattern).c_str(), name.c_str(), 0) == 0)
      return folder_of(pattern);
  return {};
}

Result<std::vector<ConfigFile>> read_imports(const Host& host, const ConfigFile& top) {
  std::vector<ConfigFile> files;
  for (const std::string& pattern : import_patterns(top)) {
    const std::string folder = folder_of(pattern);
    const auto names = host.list(folder).value_or({});
    for (const std::string& name : names) {
      if (::fnmatch(file_name(pattern).c_str(), name.c_str(), 0) != 0) continue;
      SLIPWAY_TRY(file, read_config(host, folder + "/" + name));
      files.push_back(std::move(file));
    }
  }
  return files;
}

int config_version(const Json& value) {
  const Json version = at_path(value, {"version"});
  if (version.is_number_integer()) return version.get<int>();
  return value.empty() ? 0 : 1;
}

Json base_handler(const std::vector<std::string>& names, const Json& containerd) {
  const Json runtimes = at_path(containerd, {"runtimes"});
  const Json default_name = at_path(containerd, {"default_runtime_name"});
  std::vector<std::string> candidates;
  if (default_name.is_string()) candidates.push_back(default_name);
  candidates.insert(candidates.end(), {"runc", "crun"});
  for (const std::string& name : candidates) {
    const Json found = at_path(runtimes, {name});
    if (!found.is_object()) continue;
    if (!is_ours(names, name) || std::ranges::count(names, name) != 0) return found;
  }
  return Json::object();
}

bool default_acts(const std::vector<std::string>& names, const Json& containerd) {
  const std::string name = text_of(containerd, "default_runtime_name");
  const Json binary = at_path(containerd, {"runtimes", name, "options", "BinaryName"});
  const bool is_named = std::ranges::count(names, name) != 0;
  return binary.is_string() && (is_named || is_gpu_runtime(binary.get<std::string>()));
}

std::string runc_type(const std::vector<std::string>& names, const Json& containerd) {
  const Json runtimes = at_path(containerd, {"runtimes"});
  const Json type = at_path(runtimes, {"runc", "runtime_type"});
  if (type.is_string()) return type;
  if (at_path(runtimes, {"runc"}).is_object()) return {};
  const bool others = runtimes.is_object() && std::ranges::any_of(runtimes.items(), [&](const auto& handler) {
                        return !is_ours(names, handler.key());
                      });
  return others ? "" : kRuncType;
}

}  // namespace slipway::toolkit
