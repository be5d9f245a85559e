// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/docker/docker.cpp - Docker: runtimes and the feature `cdi` in daemon.json.
#include <algorithm>
#include <optional>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/docker/daemon_json.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"

namespace slipway::toolkit {
namespace {

constexpr EngineVersion kFirstDockerWithCdiOn{28, 2};  // moby#49963
constexpr EngineVersion kFirstWithValidate{23, 0};
constexpr const char* kDockerConfig = "/etc/docker/daemon.json";
constexpr const char* kDockerSocket = "/run/docker.sock";
constexpr const char* kDockerUnit = "docker.service";
// Canonical's snap (docker-snap) is confined, and its wrapper passes the file to dockerd.
constexpr const char* kSnapUnit = "snap.docker.dockerd.service";
constexpr const char* kSnapConfig = "/var/snap/docker/current/config/daemon.json";

/// Returns the daemon's arguments without its configuration file, which the check adds itself.
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

/// True when CDI must be enabled in that version.
bool needs_cdi(const RuntimeSettings& settings, EngineVersion engine) {
  const bool knows_cdi = !engine.known() || engine >= kDockerWithCdi;
  return settings.cdi && knows_cdi && (!engine.known() || engine < kFirstDockerWithCdiOn);
}

/// Reads dockerd's file and flags, and checks that it would start with the new settings.
Result<Json> facts_of_configuration(const RuntimeSettings& settings, const Host& host, const std::string& config,
                                    const std::optional<Daemon>& daemon, const std::string& version) {
  SLIPWAY_TRY(file, read_daemon_json(host, config));
  const Json flags = daemon ? docker_flags(*daemon) : Json::object();
  const std::string runtime = find_runtime(host, settings);
  const DockerChange change{.names = settings.names,
                            .program = runtime,
                            .as_default = settings.set_as_default && !runtime.empty(),
                            .cdi = needs_cdi(settings, parse_engine_version(version))};
  SLIPWAY_CHECK(check_docker_change(change, file, config, flags));
  return Json{{"version", version},
              {"config", config},
              {"flags", flags},
              {"low_level", docker_low_level(file, flags, runtime)},
              {"runtime", runtime}};
}

bool is_of_snap(const Daemon& daemon) {
  return daemon.unit == kSnapUnit || daemon.program.starts_with("/snap/docker/");
}

/// Returns facts about the snap's Docker, which is not changed. Errors: `unsupported` the spec lists it among the
/// engines to configure.
Result<Json> facts_of_snap(const RuntimeSettings& settings, const std::string& socket) {
  const bool has_config = !settings.place("docker").config.empty();
  if (has_config || std::ranges::count(settings.engines, "docker") != 0)
    return Error{
        ErrorCode::unsupported,
        std::string("Docker is installed as a snap, which is confined: it starts no runtime of the host, and ") +
            "registers its own in " + kSnapConfig,
        has_config ? "spec.components.runtime.docker_config" : "spec.components.runtime.engines",
        std::string(has_config ? "remove docker_config" : "remove docker from engines") +
            ", or install Docker from a package (docker.io, docker-ce) instead of the snap",
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
  SLIPWAY_TRY(facts, facts_of_configuration(settings, host, config, daemon,
                                            read_engine_version(host, program, {"docker.io", "docker-ce"})));
  facts.update({{"program", program},
                {"arguments", other_arguments(daemon ? daemon->arguments : std::vector<std::string>{})},
                {"socket", socket},
                {"unit", unit}});
  return facts;
}

Result<Json> read_docker_files(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("docker");
  SLIPWAY_TRY(facts, facts_of_configuration(settings, host, place.config.empty() ? kDockerConfig : place.config,
                                            read_unit(host, kDockerUnit), ""));
  facts["unit"] = kDockerUnit;
  return facts;
}

Status plan_docker(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan) {
  if (facts.value("snap", false)) {
    plan.note(
        std::string("Docker is installed as a snap, which slipway does not change: a confined Docker starts no "
                    "runtime of the host, ") +
        "and when it finds a driver, its service docker.nvidia-container-toolkit registers a runtime of the snap in " +
        kSnapConfig + ". `docker run --runtime nvidia --gpus all IMAGE` gives GPUs; `snap stop docker` and " +
        "`snap start docker` have it look for the driver again");
    return {};
  }
  const std::string version = facts.value("version", "");
  const EngineVersion engine = parse_engine_version(version);
  const std::string binary = facts.value("runtime", "");
  const bool knows_cdi = !engine.known() || engine >= kDockerWithCdi;
  const bool has_cdi_on = engine.known() && engine >= kFirstDockerWithCdiOn;
  if (binary.empty() && !(knows_cdi && settings.cdi)) return needs_runtime("Docker", version);
  Json set = Json::object();
  if (!binary.empty()) {
    // Before 23.0, dockerd looks up its file's default runtime in that file only.
    const bool named_in_file = settings.set_as_default && engine < kFirstWithValidate &&
                               at_path(facts, {"flags", "default-runtime"}).is_null();
    for (const std::string& name : settings.names)
      if (at_path(facts, {"flags", "runtimes", name}).is_null() || (named_in_file && name == settings.names.front()))
        set_path(set, {"runtimes", name}, Json{{"args", Json::array()}, {"path", binary}});
    if (settings.set_as_default && at_path(facts, {"flags", "default-runtime"}).is_null())
      set["default-runtime"] = settings.names.front();
  } else if (settings.set_as_default) {
    plan.note("Docker gets no default runtime: no runtime program is installed, and CDI needs none");
  }
  if (needs_cdi(settings, engine) && at_path(facts, {"flags", "cdi"}).is_null())
    set_path(set, {"features", "cdi"}, true);
  if (set.empty()) {
    plan.note("Docker " + version + (has_cdi_on ? " has CDI on by default" : " has all these settings from its flags") +
              ": nothing is written");
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
