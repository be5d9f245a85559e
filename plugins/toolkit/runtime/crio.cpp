// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/crio.cpp - CRI-O: handlers in a drop-in of our own. CDI is always on where CRI-O knows it.
#include <algorithm>

#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kConfig = "/etc/crio/crio.conf";
constexpr const char* kFolder = "/etc/crio/crio.conf.d";

/// What CRI-O puts together: its file, then the drop-ins in the order of their names, ours left out.
Result<Json> read_effective(const RuntimeSettings& settings, const Host& host) {
  std::vector<std::string> paths{kConfig};
  const auto names = host.list(kFolder).value_or({});
  for (const std::string& name : names) paths.push_back(std::string(kFolder) + "/" + name);
  Json effective = Json::object();
  for (const std::string& path : paths) {
    if (path == settings.crio_drop_in) continue;
    const auto text = host.read(path);
    if (!text) continue;
    SLIPWAY_TRY(value, parse_toml(*text, path));
    effective.merge_patch(value);
  }
  return effective;
}

}  // namespace

Result<Json> read_crio(const RuntimeSettings& settings, const Host& host) {
  if (find_program(host, "crio").empty()) return Json(nullptr);
  SLIPWAY_TRY(effective, read_effective(settings, host));
  const Json runtime = at_path(effective, {"crio", "runtime"});
  std::vector<std::string> names{"crun", "runc"};
  if (const Json name = at_path(runtime, {"default_runtime"}); name.is_string()) names.insert(names.begin(), name);
  Json base = Json::object();
  for (const std::string& name : names) {
    const Json found = at_path(runtime, {"runtimes", name});
    if (!found.is_object() || std::ranges::count(settings.names, name) != 0) continue;
    base = found;
    break;
  }
  return Json{{"base", base}, {"runtime", find_runtime(host, settings)}};
}

Status plan_crio(const RuntimeSettings& settings, const Json& facts, Plan& plan) {
  Json handler = facts.value("base", Json::object());
  const std::string binary = facts.value("runtime", "");
  if (!binary.empty()) handler["runtime_path"] = binary;
  if (!handler.contains("runtime_path")) handler["runtime_path"] = "";  // CRI-O then looks for the handler's name
  handler["runtime_type"] = "oci";
  if (handler["runtime_path"] == "")
    return Error{ErrorCode::not_found,
                 "CRI-O's configuration names neither crun nor runc, so there is nothing to inherit from",
                 kConfig,
                 "name the program that handlers start: runtime_path",
                 {}};
  Json config = Json::object();
  for (const std::string& name : settings.names) set_path(config, {"crio", "runtime", "runtimes", name}, handler);
  if (settings.set_as_default && !settings.names.empty())
    set_path(config, {"crio", "runtime", "default_runtime"}, settings.names.front());
  const std::string head = "# Written by slipway (component runtime); change the spec, not this file.\n";
  plan.add(action::file({.path = settings.crio_drop_in, .content = head + to_toml(config)}))
      .triggers({"restart:crio.service"})
      .because("pods with the runtime class " + settings.names.front());
  return {};
}

}  // namespace slipway::toolkit
