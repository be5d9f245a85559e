// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/containerd/config.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

bool is_ours(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::count(names, name) != 0 || name.starts_with("nvidia");
}

/// Returns the line of the key; the first line if it is written in another form.
std::size_t line_of_version(const std::string& text) {
  const auto lines = lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trimmed(lines[i]);
    if (line.starts_with("version") && trimmed(line.substr(std::string_view("version").size())).starts_with('='))
      return i + 1;
  }
  return 1;
}

/// True for a handler with another shim than runc's (Kata's, gVisor's), which does not support `BinaryName`. A type
/// from a variable is taken for runc's.
bool is_of_another_shim(const Json& handler) {
  const std::string type = text_of(handler, "runtime_type");
  if (type.starts_with('/')) return type.find("containerd-shim-runc-") == std::string::npos;
  return type.starts_with("io.containerd.") && !type.starts_with("io.containerd.runc.") &&
         type != "io.containerd.runtime.v1.linux";
}

std::string binary_of(const Json& containerd, const std::string& handler) {
  return text_of(at_path(containerd, {"runtimes", handler, "options"}), "BinaryName");
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
  if (const Json version = at_path(value, {"version"}); !version.is_null() && !version.is_number_integer())
    return Error{ErrorCode::invalid,
                 "version is not a number, so containerd refuses the file: " + version.dump(),
                 path + ":" + std::to_string(line_of_version(*text)),
                 "write it without quotes, such as version = 2",
                 {}};
  return ConfigFile{path, std::move(value)};
}

int config_version(const Json& value) {
  const Json version = at_path(value, {"version"});
  if (version.is_number_integer()) return version.get<int>();
  return value.empty() ? 0 : 1;
}

Json containerd_low_level(const Json& containerd, const std::string& ours) {
  const std::string named = text_of(containerd, "default_runtime_name");
  return low_level_of(binary_of(containerd, named.empty() ? "runc" : named), binary_of(containerd, "runc"), ours);
}

Json base_handler(const std::vector<std::string>& names, const Json& containerd) {
  const Json runtimes = at_path(containerd, {"runtimes"});
  const Json default_name = at_path(containerd, {"default_runtime_name"});
  std::vector<std::string> candidates;
  if (default_name.is_string()) candidates.push_back(default_name);
  candidates.insert(candidates.end(), {"runc", "crun"});
  for (const std::string& name : candidates) {
    const Json found = at_path(runtimes, {name});
    if (!found.is_object() || is_of_another_shim(found)) continue;
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
