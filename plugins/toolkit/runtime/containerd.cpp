// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd.cpp - containerd: handlers and the CDI switch in its TOML, versions 1, 2 and 3.
//
// Keys are merged into the file that decides: before 2.1 a file among `imports` replaces the CRI plugin's whole table,
// later ones override it key by key; so the last file that has the table is the one to edit.
#include <algorithm>

#include <fnmatch.h>

#include "toolkit/cdi/libraries.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

using Path = std::vector<std::string>;

constexpr EngineVersion kFirstWithCdi{1, 7};
constexpr EngineVersion kFirstWithVersion3{2, 0};

Path operator+(Path path, const Path& more) {
  path.insert(path.end(), more.begin(), more.end());
  return path;
}

Path cri_plugin(int config_version) {
  if (config_version <= 1) return {"plugins", "cri"};
  return {"plugins", config_version == 2 ? "io.containerd.grpc.v1.cri" : "io.containerd.cri.v1.runtime"};
}

struct ConfigFile {
  std::string path;
  Json value;
};

Result<ConfigFile> read_config(const Host& host, const std::string& path) {
  const auto text = host.read(path);
  if (!text && text.error().code == ErrorCode::not_found) return ConfigFile{path, Json::object()};
  if (!text) return text.error();
  SLIPWAY_TRY(value, parse_toml(*text, path));
  return ConfigFile{path, std::move(value)};
}

/// The files that `imports` names, in the order in which they count; a pattern may stand in the file name.
Result<std::vector<ConfigFile>> read_imports(const Host& host, const ConfigFile& top) {
  std::vector<ConfigFile> files;
  const Json imports = top.value.value("imports", Json::array());
  for (const Json& import : imports) {
    if (!import.is_string()) continue;
    std::string pattern = import.get<std::string>();
    // As containerd does it: a pattern counts from its working directory, which is "/", a plain name from the file.
    const bool is_pattern = pattern.find('*') != std::string::npos;
    if (!pattern.starts_with('/')) pattern = (is_pattern ? "" : folder_of(top.path)) + "/" + pattern;
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

bool is_ours(const RuntimeSettings& settings, const std::string& name) {
  return std::ranges::count(settings.names, name) != 0 || name.starts_with("nvidia");
}

/// The handler to inherit from: the default one, else runc, else crun. Where ours is the default already, what was
/// inherited then stands in it.
Json base_handler(const RuntimeSettings& settings, const Json& containerd) {
  const Json runtimes = at_path(containerd, {"runtimes"});
  const Json default_name = at_path(containerd, {"default_runtime_name"});
  std::vector<std::string> names;
  if (default_name.is_string()) names.push_back(default_name);
  names.insert(names.end(), {"runc", "crun"});
  for (const std::string& name : names) {
    const Json found = at_path(runtimes, {name});
    if (!found.is_object()) continue;
    if (!is_ours(settings, name) || std::ranges::count(settings.names, name) != 0) return found;
  }
  return Json::object();
}

/// No `version` is version 1; a file that is not there or empty has none yet.
int config_version(const Json& value) {
  const Json version = at_path(value, {"version"});
  if (version.is_number_integer()) return version.get<int>();
  return value.empty() ? 0 : 1;
}

}  // namespace

Json inherit_containerd_handler(const Json& base, const std::string& binary, bool version_1) {
  Json handler = base.is_object() ? base : Json::object();
  if (!handler.contains("runtime_type") || handler["runtime_type"] == "")
    handler["runtime_type"] = "io.containerd.runc.v2";
  if (!binary.empty()) {
    set_path(handler, {"options", "BinaryName"}, binary);
    if (version_1) set_path(handler, {"options", "Runtime"}, binary);
  }
  return handler;
}

Result<Json> read_containerd(const RuntimeSettings& settings, const Host& host) {
  const std::string program = find_program(host, "containerd");
  if (program.empty()) return Json(nullptr);
  if (settings.containerd_config.ends_with(".tmpl"))
    return Error{ErrorCode::unsupported,
                 "a template of k3s or RKE2 is not TOML",
                 settings.containerd_config,
                 "name a file that the template imports, in containerd_config",
                 {}};
  const std::string version = read_engine_version(host, program, {"containerd", "containerd.io"});
  SLIPWAY_TRY(top, read_config(host, settings.containerd_config));
  SLIPWAY_TRY(imports, read_imports(host, top));
  int number = config_version(top.value);
  const EngineVersion engine = parse_engine_version(version);
  if (number == 1 && engine >= kFirstWithVersion3)
    return Error{ErrorCode::invalid,
                 "the configuration has no version, and containerd " + version + " takes 2 or 3",
                 top.path,
                 "`containerd config migrate` writes it in the newest form",
                 {}};
  if (number == 0) number = engine >= kFirstWithVersion3 ? 3 : 2;
  const Path plugin = cri_plugin(number);
  const ConfigFile* target = &top;
  for (const ConfigFile& file : imports)
    if (at_path(file.value, plugin).is_object()) target = &file;
  Json base = base_handler(settings, at_path(target->value, plugin + Path{"containerd"}));
  if (base.empty()) base = base_handler(settings, at_path(top.value, plugin + Path{"containerd"}));
  return Json{{"version", version},
              {"path", target->path},
              {"config_version", number},
              {"has_version", target->value.contains("version") || target->value.empty()},
              {"base", base},
              {"runtime", find_runtime(host, settings)}};
}

Status plan_containerd(const RuntimeSettings& settings, const Json& facts, Plan& plan) {
  const std::string version = facts.value("version", "");
  const EngineVersion engine = parse_engine_version(version);
  const std::string binary = facts.value("runtime", "");
  const int number = facts.value("config_version", 2);
  const bool knows_cdi = !engine.known() || engine >= kFirstWithCdi;
  if (binary.empty() && !(knows_cdi && settings.cdi)) return needs_runtime("containerd", version);
  const Path plugin = cri_plugin(number);
  Json set = Json::object();
  if (facts.value("has_version", false) && number > 1) set["version"] = number;
  for (const std::string& name : settings.names)
    set_path(set, plugin + Path{"containerd", "runtimes", name},
             inherit_containerd_handler(facts.value("base", Json::object()), binary, number == 1));
  if (settings.set_as_default && !settings.names.empty())
    set_path(set, plugin + Path{"containerd", "default_runtime_name"}, settings.names.front());
  if (settings.cdi && knows_cdi) set_path(set, plugin + Path{"enable_cdi"}, true);
  plan.add(action::merge({.path = facts.value("path", settings.containerd_config), .format = "toml", .set = set}))
      .triggers({"restart:containerd.service"})
      .because("pods with the runtime class " + settings.names.front() + ", and devices by CDI");
  return {};
}

}  // namespace slipway::toolkit
