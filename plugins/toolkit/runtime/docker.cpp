// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/docker.cpp - Docker: runtimes and the feature `cdi` in daemon.json.
#include <algorithm>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"

namespace slipway::toolkit {
namespace {

constexpr EngineVersion kFirstDockerWithCdi{25, 0};
constexpr EngineVersion kFirstDockerWithCdiOn{28, 2};  // moby#49963
constexpr EngineVersion kFirstWithValidate{23, 0};
constexpr const char* kDockerConfig = "/etc/docker/daemon.json";
constexpr const char* kDockerSocket = "/run/docker.sock";
constexpr const char* kDockerUnit = "docker.service";
// Canonical's snap (docker-snap) is confined, and its wrapper names the file to dockerd.
constexpr const char* kSnapUnit = "snap.docker.dockerd.service";
constexpr const char* kSnapConfig = "/var/snap/docker/current/config/daemon.json";

/// The daemon's arguments but its configuration file, which the check names itself.
std::vector<std::string> other_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--config-file")
      ++i;
    else if (!arguments[i].starts_with("--config-file=") && arguments[i].find('$') == std::string::npos)
      others.push_back(arguments[i]);
  }
  return others;
}

/// An empty file is as good as none.
Status expect_object(const std::string& text, const std::string& path) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return {};
  std::string place = path;
  try {
    if (Json::parse(text).is_object()) return {};
  } catch (const Json::parse_error& error) {
    const std::string before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line_begin = before.rfind('\n') + 1;  // 0 in the first line
    place += ":" + std::to_string(std::ranges::count(before, '\n') + 1) + ":" +
             std::to_string(before.size() - line_begin + 1);
  }
  return Error{ErrorCode::invalid, "it is no JSON object", place, "correct the file; slipway leaves it as it is", {}};
}

bool is_of_snap(const Daemon& daemon) {
  return daemon.unit == kSnapUnit || daemon.program.starts_with("/snap/docker/");
}

/// What is known of the snap's Docker, which is left as it is.
/// Errors: `unsupported` the spec names it among the engines to configure.
Result<Json> facts_of_snap(const RuntimeSettings& settings, const std::string& socket) {
  const bool has_config = !settings.place("docker").config.empty();
  if (has_config || std::ranges::count(settings.engines, "docker") != 0)
    return Error{ErrorCode::unsupported,
                 std::string("Docker is here as a snap, which is confined: it starts no runtime of the host, and ") +
                     "registers its own in " + kSnapConfig,
                 has_config ? "spec.components.runtime.docker_config" : "spec.components.runtime.engines",
                 std::string(has_config ? "take docker_config out" : "take docker out of engines") +
                     ", or have Docker from a package (docker.io, docker-ce) in the snap's place",
                 {}};
  return Json{{"snap", true}, {"config", kSnapConfig}, {"socket", socket}, {"unit", kSnapUnit}};
}

}  // namespace

Result<Json> read_docker(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("docker");
  const std::string socket = place.socket.empty() ? kDockerSocket : place.socket;
  auto daemon = find_peer(host, socket, "dockerd");
  if (daemon && is_of_snap(*daemon)) return facts_of_snap(settings, socket);
  const std::string unit = daemon ? daemon->unit : kDockerUnit;
  if (!daemon) daemon = read_unit(host, unit);  // systemd holds the socket
  if (daemon && file_name(daemon->program) != "dockerd") daemon.reset();
  std::string program = place.program;
  if (program.empty())
    program = daemon && host.exists(daemon->program) ? daemon->program : find_program(host, "dockerd");
  if (program.empty()) return read_unit(host, kSnapUnit) ? facts_of_snap(settings, socket) : Json(nullptr);
  std::string config = place.config;
  if (config.empty() && daemon) config = daemon->option({"--config-file"});
  if (config.empty()) config = kDockerConfig;
  if (const auto text = host.read(config)) SLIPWAY_CHECK(expect_object(*text, config));
  return Json{{"version", read_engine_version(host, program, {"docker.io", "docker-ce"})},
              {"program", program},
              {"arguments", other_arguments(daemon ? daemon->arguments : std::vector<std::string>{})},
              {"config", config},
              {"socket", socket},
              {"unit", unit},
              {"runtime", find_runtime(host, settings)}};
}

Result<Json> read_docker_files(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("docker");
  const std::string config = place.config.empty() ? kDockerConfig : place.config;
  if (const auto text = host.read(config)) SLIPWAY_CHECK(expect_object(*text, config));
  return Json{{"config", config}, {"unit", kDockerUnit}, {"runtime", find_runtime(host, settings)}};
}

Status plan_docker(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan) {
  if (facts.value("snap", false)) {
    plan.note(
        std::string("Docker is here as a snap, and is left as it is: confined, it starts no runtime of the host, ") +
        "and where it finds a driver its service docker.nvidia-container-toolkit registers one of its own in " +
        kSnapConfig + ". `docker run --runtime nvidia --gpus all IMAGE` gives GPUs; `snap stop docker` and " +
        "`snap start docker` have it look for the driver again");
    return {};
  }
  const std::string version = facts.value("version", "");
  const EngineVersion engine = parse_engine_version(version);
  const std::string binary = facts.value("runtime", "");
  const bool knows_cdi = !engine.known() || engine >= kFirstDockerWithCdi;
  const bool has_cdi_on = engine.known() && engine >= kFirstDockerWithCdiOn;
  if (binary.empty() && !(knows_cdi && settings.cdi)) return needs_runtime("Docker", version);
  Json set = Json::object();
  if (!binary.empty()) {
    for (const std::string& name : settings.names)
      set_path(set, {"runtimes", name}, Json{{"args", Json::array()}, {"path", binary}});
    if (settings.set_as_default && !settings.names.empty()) set["default-runtime"] = settings.names.front();
  } else if (settings.set_as_default) {
    plan.note("Docker gets no default runtime: no runtime program is installed, and CDI needs none");
  }
  if (settings.cdi && knows_cdi && !has_cdi_on) set_path(set, {"features", "cdi"}, true);
  if (set.empty()) {
    plan.note("Docker " + version + " has CDI switched on by itself: nothing is written");
    return {};
  }
  const EngineChecks checks("Docker", facts, settings, live);
  if (engine.known() && engine >= kFirstWithValidate) checks.add_config_check("docker", plan);
  Action& change =
      plan.add(action::merge({.path = facts.value("config", kDockerConfig), .format = "json", .set = set}));
  checks.restart_after(change, "containers get devices by CDI, or by --runtime");
  checks.add_answer_check(plan);
  return {};
}

}  // namespace slipway::toolkit
