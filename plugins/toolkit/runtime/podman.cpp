// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/podman.cpp - podman: runtimes in a drop-in of our own (containers.conf(5)). It reads CDI
// specs by itself from 4.1 on, and has no daemon to restart.
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kPodmanDropIn = "/etc/containers/containers.conf.d/99-nvidia.conf";

/// Returns the program of `engine.runtime`: the first of its paths that exists.
std::string podman_program(const Json& engine, const std::string& name, const Host& host) {
  const Json paths = at_path(engine, {"runtimes", name});
  if (paths.is_array())
    for (const Json& path : paths)
      if (path.is_string() && host.exists(path.get<std::string>())) return path;
  return name;
}

}  // namespace

Result<Json> read_containers_conf(const Host& host) {
  Json effective = Json::object();
  for (const std::string base : {"/usr/share/containers/containers.conf", "/etc/containers/containers.conf"}) {
    std::vector<std::string> paths{base};
    const auto names = host.list(base + ".d").value_or({});
    for (const std::string& name : names)
      if (name.ends_with(".conf")) paths.push_back(base + ".d/" + name);
    for (const std::string& path : paths) {
      const auto text = path == kPodmanDropIn ? Result<std::string>("") : host.read(path);
      if (!text) continue;
      SLIPWAY_TRY(value, parse_toml(*text, path));
      effective.merge_patch(value);
    }
  }
  return effective;
}

Result<Json> read_podman(const RuntimeSettings& settings, const Host& host) {
  const std::string program = find_program(host, "podman");
  if (program.empty()) return Json(nullptr);
  // For an ordinary user `podman --version` leaves folders in /tmp, so it is run only if no package list has the
  // version.
  std::string version = read_package_version(host, {"podman"});
  if (version.empty()) version = read_engine_version(host, program, {});
  SLIPWAY_TRY(conf, read_containers_conf(host));
  const Json engine = at_path(conf, {"engine"});
  Json facts{{"version", version}, {"runtime", find_runtime(host, settings)}};
  // If no file sets one, podman uses the first that is installed, as slipway-runtime does.
  if (const std::string name = text_of(engine, "runtime"); !name.empty())
    facts["low_level"] = low_level_of(podman_program(engine, name, host), podman_program(engine, "runc", host),
                                      text_of(facts, "runtime"));
  return facts;
}

Status plan_podman(const RuntimeSettings& settings, const Json& facts, bool /*live*/, Plan& plan) {
  const std::string version = facts.value("version", "");
  const EngineVersion engine = parse_engine_version(version);
  const std::string binary = facts.value("runtime", "");
  if (binary.empty() && engine.known() && engine < kPodmanWithCdi) return needs_runtime("podman", version);
  if (binary.empty()) {
    plan.note("podman needs no configuration: it reads CDI specs by itself (--device nvidia.com/gpu=0)");
    return {};
  }
  Json config = Json::object();
  for (const std::string& name : settings.names) set_path(config, {"engine", "runtimes", name}, Json::array({binary}));
  if (settings.set_as_default) set_path(config, {"engine", "runtime"}, settings.names.front());
  plan.add(action::file({.path = kPodmanDropIn, .content = kOwnHead + to_toml(config)}))
      .because("containers that are started with --runtime " + settings.names.front());
  return {};
}

}  // namespace slipway::toolkit
