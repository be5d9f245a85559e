// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/docker.cpp - Docker starts only images, so the folder is imported as one. It gives GPUs
// by CDI (25.0 with the feature `cdi`, 28.2 by default), otherwise by a runtime that is registered with it.
#include <algorithm>
#include <array>
#include <charconv>

#include <slipway/json.hpp>
#include <slipway/text.hpp>

#include "validator/container/engine.hpp"

namespace slipway::validator {
namespace {

constexpr std::chrono::seconds kInfoLimit{20};
constexpr const char* kPidFile = "/run/docker.pid";
constexpr const char* kHostOption = "--host=unix:///run/docker.sock";  // a Docker context of root cannot redirect it to
                                                                       // another machine
constexpr EngineVersion kOldestDocker{20, 10};                         // `docker run --pull`
constexpr const char* kUnitOfSnap = "/etc/systemd/system/snap.docker.dockerd.service";
constexpr std::array kDaemons{"/usr/bin/dockerd", "/usr/sbin/dockerd", "/usr/local/bin/dockerd"};
constexpr std::array kDockerClients{"/usr/bin/docker", "/usr/local/bin/docker"};
constexpr std::array kArchivers{"/usr/bin/tar", "/bin/tar"};

/// dockerd writes its process id there and removes the file when it ends; a killed one leaves it.
bool docker_runs(const Host& host) {
  const std::string text = host.attribute(kPidFile);
  unsigned pid = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (problem != std::errc{} || end != text.data() + text.size() || pid == 0) return false;
  std::string program = host.read_link("/proc/" + std::to_string(pid) + "/exe").value_or("");
  program = program.substr(0, program.find(" (deleted)"));  // proc(5): it was upgraded meanwhile
  return !program.empty() && std::any_of(kDaemons.begin(), kDaemons.end(), [&](const char* path) {
    return program == path || host.resolve(path).value_or("") == program;
  });
}

std::string member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns dockerd's info; not an object: it does not answer.
Json info_of(const Runner& runner, const std::string& docker) {
  const auto done = runner.run({docker, kHostOption, "info", "--format", "{{json .}}"}, kInfoLimit);
  Json info = done && done->exit_status == 0 ? parse_foreign(done->output) : Json();
  return info.is_object() && !member(info, "ServerVersion").empty() ? info : Json();
}

/// Docker lists its spec folders only while CDI is enabled.
bool supports_cdi_devices(const Json& info) {
  const auto folders = info.find("CDISpecDirs");
  return folders != info.end() && folders->is_array() && !folders->empty();
}

bool is_gpu_runtime(const Json& runtime) {
  const std::string path = runtime.is_object() ? member(runtime, "path") : "";
  const std::string program = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  return program == "slipway-runtime" || program.starts_with("nvidia-container-runtime");
}

/// Returns the default runtime if it gives GPUs, else the first by name: "nvidia" is before "nvidia-cdi". Empty: there
/// is none.
std::string gpu_runtime(const Json& info) {
  const auto found = info.find("Runtimes");
  if (found == info.end() || !found->is_object()) return {};
  const std::string by_default = member(info, "DefaultRuntime");
  std::string first;
  for (const auto& [name, runtime] : found->items()) {
    if (!is_gpu_runtime(runtime)) continue;
    if (name == by_default) return name;
    if (first.empty()) first = name;
  }
  return first;
}

/// Returns how this Docker gives GPUs.
std::optional<GpuAccess> access_of(const Json& info, const std::string& device) {
  if (supports_cdi_devices(info) && !device.empty()) return GpuAccess{device, {"--device", device}};
  const std::string runtime = gpu_runtime(info);
  if (runtime.empty()) return std::nullopt;
  return GpuAccess{"the runtime " + runtime, {"--runtime", runtime, "--env", kAllGpus}};
}

Words by_client(const std::string& docker, Words words) {
  words.insert(words.begin(), {docker, kHostOption});
  return words;
}

Removals removals_by_docker(const std::string& docker, const Place& place) {
  return {.container = {by_client(docker, {"rm", "--force", place.name()})},
          .afterwards = {by_client(docker, {"image", "rm", "--force", place.name()})}};
}

Engine engine_of_docker(const std::string& docker, const std::string& tar, const GpuAccess& access,
                        const Wanted& wanted) {
  Engine engine{.name = "Docker", .given = access.shown, .place = {kDocker, wanted.number}};
  const Place& place = engine.place;
  engine.before = {{tar, "-cf", place.archive(), "-C", place.root(), "."},
                   by_client(docker, {"import", place.archive(), place.name()})};
  engine.start = by_client(docker, {"run", "--rm", "--name", place.name(), "--network=none", "--pull=never",
                                    "--log-driver=none", "--security-opt", "label=disable"});
  engine.start.insert(engine.start.end(), access.options.begin(), access.options.end());
  engine.start.insert(engine.start.end(), {place.name(), "/probe"});
  engine.removals = removals_by_docker(docker, place);
  engine.by_hand = "docker run --rm " + joined(access.options, " ") + " IMAGE ls /dev";
  engine.unit = "docker";
  return engine;
}

/// Says why a version of Docker is not supported; empty: it is.
std::string why_not_version(const std::string& version) {
  const EngineVersion numbers = parse_engine_version(version);
  if (numbers == EngineVersion()) return "`docker info` prints no readable version, but \"" + version + "\"";
  return numbers < kOldestDocker ? "Docker " + version + " is older than 20.10" : "";
}

}  // namespace

Offer ask_docker(const Runner& runner, const Wanted& wanted) {
  const Host& host = runner.host();
  const auto [daemon, daemon_why_not] = find_program(host, kDaemons);
  if (daemon.empty() && daemon_why_not.empty() && host.exists(kUnitOfSnap))
    return {{},
            "Docker is a snap here: it cannot read files outside of home folders, so it cannot import the check's "
            "container; try `docker run --rm --runtime nvidia --gpus all IMAGE nvidia-smi` by hand"};
  if (daemon.empty()) return {{}, daemon_why_not};
  if (!docker_runs(host)) return {{}, std::string("Docker does not run: ") + kPidFile + " names no dockerd"};
  const auto [docker, why_not] = find_program(host, kDockerClients);
  if (docker.empty()) return {{}, why_not.empty() ? "Docker runs, but its program docker is not installed" : why_not};
  const auto [tar, tar_why_not] = find_program(host, kArchivers);
  if (tar.empty()) return {{}, tar_why_not.empty() ? "Docker needs tar, which is not installed" : tar_why_not};
  const Json info = info_of(runner, docker);
  if (!info.is_object()) return {{}, std::string("Docker does not answer `docker ") + kHostOption + " info`"};
  const std::string version = member(info, "ServerVersion");
  if (std::string refused = why_not_version(version); !refused.empty()) return {{}, std::move(refused)};
  const auto access = access_of(info, wanted.device);
  if (!access)
    return {{},
            "Docker " + version + " has CDI switched off or does not know it, and neither slipway-runtime nor " +
                "nvidia-container-runtime is registered with it"};
  const bool by_variable = access->shown != wanted.device;
  if (const std::string refused = why_no_variable(host); by_variable && !refused.empty())
    return {{}, "Docker gives GPUs by " + access->shown + ", and " + refused};
  return {engine_of_docker(docker, tar, *access, wanted), {}};
}

std::optional<Removals> removals_of_docker(const Host& host, const Place& place) {
  const std::string docker = find_program(host, kDockerClients).path;
  if (docker.empty() || find_program(host, kDaemons).path.empty() || !docker_runs(host)) return std::nullopt;
  return removals_by_docker(docker, place);
}

}  // namespace slipway::validator
