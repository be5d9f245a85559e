// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/podman.cpp - podman: runtimes in a drop-in of our own (containers.conf(5)). It reads CDI
// specs by itself from 4.1 on, and has no daemon to restart.
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr EngineVersion kFirstPodmanWithCdi{4, 1};
constexpr const char* kPodmanDropIn = "/etc/containers/containers.conf.d/99-nvidia.conf";

}  // namespace

Result<Json> read_podman(const RuntimeSettings& settings, const Host& host) {
  const std::string program = find_program(host, "podman");
  if (program.empty()) return Json(nullptr);
  // An ordinary user's `podman --version` leaves folders in /tmp, so it is run only where no list of packages tells.
  std::string version = read_package_version(host, {"podman"});
  if (version.empty()) version = read_engine_version(host, program, {});
  return Json{{"version", version}, {"runtime", find_runtime(host, settings)}};
}

Status plan_podman(const RuntimeSettings& settings, const Json& facts, bool /*live*/, Plan& plan) {
  const std::string version = facts.value("version", "");
  const EngineVersion engine = parse_engine_version(version);
  const std::string binary = facts.value("runtime", "");
  if (binary.empty() && engine.known() && engine < kFirstPodmanWithCdi) return needs_runtime("podman", version);
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
