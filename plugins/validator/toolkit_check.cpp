// SPDX-License-Identifier: Apache-2.0
#include "validator/toolkit_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/unix_socket.hpp>

namespace slipway::validator {
namespace {

constexpr std::string_view kRuntimes[] = {"slipway-runtime", "nvidia-container-runtime"};

/// Returns files in which engines configure a runtime, including those of drop-in folders.
std::vector<std::string> engine_configs(const Host& host) {
  std::vector<std::string> files{"/etc/containerd/config.toml", "/etc/docker/daemon.json", "/etc/crio/crio.conf"};
  for (const char* folder : {"/etc/containerd/conf.d", "/etc/crio/crio.conf.d"}) {
    const auto names = host.list(folder).value_or(std::vector<std::string>{});
    for (const std::string& name : names) files.push_back(std::string(folder) + "/" + name);
  }
  return files;
}

/// Returns the path that ends in a runtime's name, in quotes in a config.
std::string path_of(std::string_view runtime, const std::string& config) {
  for (std::size_t at = config.find(runtime); at != std::string::npos; at = config.find(runtime, at + 1)) {
    const std::size_t quote = config.rfind('"', at);
    const std::size_t end = at + runtime.size();
    if (quote == std::string::npos || end >= config.size() || config[end] != '"') continue;
    std::string path = config.substr(quote + 1, end - quote - 1);
    if (path.starts_with('/') && path.ends_with("/" + std::string(runtime))) return path;
  }
  return {};
}

std::string runtime_path(const std::string& config) {
  for (const std::string_view runtime : kRuntimes)
    if (std::string path = path_of(runtime, config); !path.empty()) return path;
  return {};
}

}  // namespace

/// Combines the result for devices with the check that an engine is available.
Finding ToolkitCheck::with_engine(Finding given) const {
  if (!host_.live() || host_.booting() || !passed(given)) return given;
  std::vector<std::string> answering;
  const EngineSocket* silent = nullptr;
  for (const EngineSocket& each : kEngineSockets) {
    const auto end = connect_to(host_, each.path);
    if (end) answering.emplace_back(each.name);
    // Other errors do not show the engine's state: it is not installed, this user or service may not connect, or this
    // process has no descriptor left.
    if (!end && end.error().code == ErrorCode::unreachable && silent == nullptr) silent = &each;
  }
  if (answering.empty() && silent != nullptr)  // beside an answering engine, a silent socket is a leftover
    return fails(kToolkitCheck,
                 fmt::format("{} does not answer at {}, so it starts no container", silent->name, silent->path),
                 "start the engine; `systemctl status` and `journalctl` show what happened to its unit");
  if (!answering.empty())
    given.text += fmt::format("; {} {}", fmt::join(answering, ", "), answering.size() == 1 ? "answers" : "answer");
  return given;
}

std::optional<Finding> ToolkitCheck::check_cdi() {
  std::size_t devices = 0;
  const std::vector<CdiSpec>& specs = cdi_.read();
  for (const CdiSpec& spec : specs) {
    if (!spec.problem.empty())
      return fails(kToolkitCheck, spec.problem,
                   "remove the file, then run `slipway apply` or `nvidia-ctk cdi generate` to make it again");
    // A missing hook does not mean that the spec is outdated: a new one would name it too.
    for (const std::string& program : spec.hook_programs)
      if (!host_.exists(program))
        return fails(kToolkitCheck,
                     fmt::format("{} names the hook program {}, which is missing: no container with a GPU can start",
                                 spec.file, program),
                     "install that program there, or make the spec without hooks (hooks: none of cdi)");
    auto missing = cdi_.missing(spec);
    // Only a boot creates the nodes.
    if (!host_.live()) std::erase_if(missing, [](const std::string& path) { return path.starts_with("/dev/"); });
    if (!missing.empty())
      return fails(kToolkitCheck,
                   fmt::format("{} is stale: it names {}, which is missing", spec.file, fmt::join(missing, ", ")),
                   "run `slipway apply`, or `nvidia-ctk cdi generate` for a spec that slipway did not make");
    devices += spec.devices.size();
  }
  if (specs.empty()) return std::nullopt;
  return passes(kToolkitCheck, fmt::format("{} CDI {} with {} devices, and all that they name exists", specs.size(),
                                           specs.size() == 1 ? "spec" : "specs", devices));
}

std::optional<Finding> ToolkitCheck::check_runtime() {
  const auto files = engine_configs(host_);
  for (const std::string& file : files) {
    const auto config = host_.read(file);
    const std::string path = config ? runtime_path(*config) : std::string();
    if (path.empty()) continue;
    runtime_ = path;
    if (host_.exists(path)) return passes(kToolkitCheck, fmt::format("{} uses the runtime {}", file, path));
    return fails(kToolkitCheck, fmt::format("{} names the runtime {}, which is missing", file, path),
                 "install the runtime (slipway-runtime comes with slipway, nvidia-container-runtime with NVIDIA's "
                 "container toolkit), or remove it from that file");
  }
  return std::nullopt;
}

std::vector<std::string> ToolkitCheck::paths() const {
  std::vector<std::string> all{"/etc/cdi", "/run/cdi", "/etc/containerd/conf.d", "/etc/crio/crio.conf.d"};
  for (const EngineSocket& each : kEngineSockets) all.emplace_back(each.path);
  const auto add = [&all](const std::vector<std::string>& more) { all.insert(all.end(), more.begin(), more.end()); };
  add(engine_configs(host_));
  if (!runtime_.empty()) all.push_back(runtime_);
  for (const CdiSpec& spec : cdi_.last()) {
    add(spec.hook_programs);
    add(spec.host_paths);
  }
  return all;
}

Finding ToolkitCheck::run() {
  if (auto finding = check_cdi()) return with_engine(*std::move(finding));
  if (auto finding = check_runtime()) return with_engine(*std::move(finding));
  return not_tried(kToolkitCheck,
                   "there is no CDI spec of nvidia.com in /etc/cdi or /run/cdi, and no engine is set up "
                   "for a GPU runtime");
}

}  // namespace slipway::validator
