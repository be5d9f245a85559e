// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/containerd/configuration.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

std::string names_of(const Json& handlers) {
  std::string names;
  for (const auto& [name, handler] : handlers.items()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void find_hidden(const Configuration& all, Findings& findings) {
  const ConfigFile& deciding = all.deciding();
  const Json counting = at_path(all.table(), {"containerd", "runtimes"});
  for (const std::string& path : all.hidden()) {
    const auto file = std::ranges::find(all.files(), path, &ConfigFile::path);
    Json handlers = at_path(all.table_of(*file), {"containerd", "runtimes"});
    if (!handlers.is_object()) continue;
    for (auto at = handlers.begin(); at != handlers.end();)
      at = at_path(counting, {at.key()}) == *at ? handlers.erase(at) : std::next(at);
    if (handlers.empty()) continue;
    findings.fail("runtime.hidden",
                  "the runtime classes of " + path + " have no effect (" + names_of(handlers) + "): " + deciding.path +
                      " is read later, and this containerd uses the CRI table of that file instead",
                  "move them into " + deciding.path + ", or update containerd to 2.1, which joins the tables");
  }
}

void find_missing_program(const std::string& engine, const std::string& name, const Json& program, const Host& host,
                          Findings& findings) {
  if (!program.is_string()) return;
  const std::string path = program;
  if (!path.starts_with('/') || host.exists(path)) return;
  findings.fail("runtime.program",
                "the runtime class " + name + " of " + engine + " starts " + path +
                    ", which is missing: no container of this class can start",
                "install it, or remove the class from the configuration");
}

void find_classes(const Json& table, const std::string& title, const Host& host, Findings& findings) {
  const Json classes = at_path(table, {"containerd", "runtimes"});
  if (classes.is_object())
    for (const auto& [name, handler] : classes.items())
      find_missing_program(title, name, at_path(handler, {"options", "BinaryName"}), host, findings);
  const std::string chosen = text_of(at_path(table, {"containerd"}), "default_runtime_name");
  if (chosen.empty() || chosen == "runc" || at_path(classes, {chosen}).is_object()) return;
  findings.fail(
      "runtime.default",
      "the default runtime class of " + title + " is " + chosen + ", which no file defines: no container can start",
      "define it, or remove default_runtime_name from the configuration");
}

}  // namespace

void diagnose_containerd(const std::string& kind, const Json& facts, const Host& host, Findings& findings) {
  const std::string config = facts.value("config", "");
  const std::string title = facts.value("title", "containerd");
  const auto all = Configuration::read(host, config, parse_engine_version(facts.value("version", "")));
  if (!all) return;  // verify reports unreadable files
  if (parse_engine_version(facts.value("version", "")).known()) find_hidden(*all, findings);
  find_classes(all->table(), title, host, findings);
  for (const ContainerdKind& usual : containerd_kinds()) {
    if (usual.name != kind || usual.config == config || !host.exists(usual.config)) continue;
    findings.add({Finding::Status::warning, "runtime.other-config",
                  title + " is started with " + config + "; " + usual.config + " exists but is not read",
                  "change " + config + ": changes of " + usual.config + " have no effect"});
  }
}

void diagnose_docker(const Json& facts, const Host& host, Findings& findings) {
  const std::string config = facts.value("config", "");
  const auto text = host.read(config);
  const Json content = text ? Json::parse(*text, nullptr, false) : Json::object();
  const Json runtimes = at_path(content, {"runtimes"});
  if (facts.value("snap", false) && !at_path(runtimes, {"nvidia"}).is_object())
    findings.add({Finding::Status::warning, "runtime.docker-snap",
                  "Docker is installed as a snap, and " + config +
                      " has no runtime nvidia, which the snap registers when it finds a driver: its containers get "
                      "no GPUs",
                  "once the driver is loaded, `snap stop docker` and `snap start docker`; `snap logs "
                  "docker.nvidia-container-toolkit` shows what the snap found"});
  if (runtimes.is_object())
    for (const auto& [name, runtime] : runtimes.items())
      find_missing_program("Docker", name, at_path(runtime, {"path"}), host, findings);
  const Json chosen = at_path(content, {"default-runtime"});
  const bool known = !chosen.is_string() || chosen == "runc" || chosen == "io.containerd.runc.v2" ||
                     at_path(runtimes, {chosen.get<std::string>()}).is_object();
  if (known) return;
  findings.fail("runtime.default",
                "the default runtime of Docker is " + chosen.get<std::string>() + ", which " + config +
                    " does not define: dockerd does not start",
                "define it among runtimes, or remove default-runtime from " + config);
}

}  // namespace slipway::toolkit
