// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/docker.cpp - Docker: runtimes and the feature `cdi` in daemon.json.
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

constexpr EngineVersion kFirstWithCdi{25, 0};

}  // namespace

Result<Json> read_docker(const RuntimeSettings& settings, const Host& host) {
  const std::string program = find_program(host, "dockerd");
  if (program.empty()) return Json(nullptr);
  const auto text = host.read(settings.docker_config);
  const Json config = text && text->find_first_not_of(" \t\r\n") != std::string::npos
                          ? Json::parse(*text, nullptr, false)
                          : Json::object();
  if (!config.is_object())
    return Error{ErrorCode::invalid,
                 "it is no JSON object",
                 settings.docker_config,
                 "correct the file; slipway leaves it as it is",
                 {}};
  return Json{{"version", read_engine_version(host, program, {"docker.io", "docker-ce"})},
              {"runtime", find_runtime(host, settings)}};
}

Status plan_docker(const RuntimeSettings& settings, const Json& facts, Plan& plan) {
  const std::string version = facts.value("version", "");
  const EngineVersion engine = parse_engine_version(version);
  const std::string binary = facts.value("runtime", "");
  const bool knows_cdi = !engine.known() || engine >= kFirstWithCdi;
  if (binary.empty() && !(knows_cdi && settings.cdi)) return needs_runtime("Docker", version);
  Json set = Json::object();
  if (!binary.empty()) {
    for (const std::string& name : settings.names)
      set_path(set, {"runtimes", name}, Json{{"args", Json::array()}, {"path", binary}});
    if (settings.set_as_default && !settings.names.empty()) set["default-runtime"] = settings.names.front();
  } else if (settings.set_as_default) {
    plan.note("Docker gets no default runtime: no runtime program is installed, and CDI needs none");
  }
  if (settings.cdi && knows_cdi) set_path(set, {"features", "cdi"}, true);
  plan.add(action::merge({.path = settings.docker_config, .format = "json", .set = set}))
      .triggers({"restart:docker.service"})
      .because("containers get devices by CDI");
  return {};
}

}  // namespace slipway::toolkit
