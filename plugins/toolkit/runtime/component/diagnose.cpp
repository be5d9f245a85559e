// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/containerd/config.hpp"
#include "toolkit/runtime/containerd/kinds.hpp"
#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

/// The runtime settings of a file, whose tables may be of another version than those of the main file.
Json containerd_table(const ConfigFile& file) {
  const int version = config_version(file.value);
  return at_path(file.value, cri_plugin(version == 0 ? 2 : version) + KeyPath{"containerd"});
}

bool has_plugin(const ConfigFile& file) {
  const int version = config_version(file.value);
  return at_path(file.value, cri_plugin(version == 0 ? 2 : version)).is_object();
}

std::string names_of(const Json& handlers) {
  std::string names;
  for (const auto& [name, handler] : handlers.items()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void find_hidden(const std::vector<ConfigFile>& files, Findings& findings) {
  const ConfigFile* deciding = nullptr;
  for (const ConfigFile& file : files)
    if (has_plugin(file)) deciding = &file;
  for (const ConfigFile& file : files) {
    if (&file == deciding || deciding == nullptr) continue;
    Json handlers = at_path(containerd_table(file), {"runtimes"});
    if (!handlers.is_object()) continue;
    const Json counting = at_path(containerd_table(*deciding), {"runtimes"});
    if (counting.is_object())
      for (const auto& [name, handler] : counting.items()) handlers.erase(name);
    if (handlers.empty()) continue;
    findings.fail("runtime.hidden",
                  "the runtime classes of " + file.path + " do not count (" + names_of(handlers) +
                      "): " + deciding->path + " is read later, and this containerd takes its CRI table instead",
                  "move them into " + deciding->path + ", or update containerd to 2.1, which joins the tables");
  }
}

/// The classes that are in force: all of them where tables are joined, else those of the last file that has the table.
std::map<std::string, Json> classes_of(const std::vector<ConfigFile>& files, bool joined) {
  std::map<std::string, Json> classes;
  for (const ConfigFile& file : files) {
    if (!has_plugin(file)) continue;
    if (!joined) classes.clear();
    const Json handlers = at_path(containerd_table(file), {"runtimes"});
    if (handlers.is_object())
      for (const auto& [name, handler] : handlers.items()) classes[name] = handler;
  }
  return classes;
}

void find_missing_program(const std::string& engine, const std::string& name, const Json& program, const Host& host,
                          Findings& findings) {
  if (!program.is_string()) return;
  const std::string path = program;
  if (!path.starts_with('/') || host.exists(path)) return;
  findings.fail("runtime.program",
                "the runtime class " + name + " of " + engine + " starts " + path +
                    ", which is not there: no container of this class can start",
                "install it, or take the class out of the configuration");
}

void find_classes(const std::vector<ConfigFile>& files, bool joined, const std::string& title, const Host& host,
                  Findings& findings) {
  const auto classes = classes_of(files, joined);
  for (const auto& [name, handler] : classes)
    find_missing_program(title, name, at_path(handler, {"options", "BinaryName"}), host, findings);
  Json chosen;
  for (const ConfigFile& file : files)
    if (has_plugin(file))
      if (const Json name = at_path(containerd_table(file), {"default_runtime_name"}); name.is_string() || !joined)
        chosen = name;
  if (!chosen.is_string() || classes.count(chosen) != 0) return;
  if (const std::string name = chosen.get<std::string>(); name.empty() || name == "runc") return;
  findings.fail("runtime.default",
                "the default runtime class of " + title + " is " + chosen.get<std::string>() +
                    ", which no file defines: no container can start",
                "define it, or take default_runtime_name out of the configuration");
}

}  // namespace

void diagnose_containerd(const std::string& kind, const Json& facts, const Host& host, Findings& findings) {
  const std::string config = facts.value("config", "");
  const std::string title = facts.value("title", "containerd");
  const auto top = read_config(host, config);
  const auto imports = top ? read_imports(host, *top) : Result<std::vector<ConfigFile>>(top.error());
  if (!imports) return;  // what cannot be read is for verify to say
  std::vector<ConfigFile> files{*top};
  files.insert(files.end(), imports->begin(), imports->end());
  const EngineVersion version = parse_engine_version(facts.value("version", ""));
  const bool joined = !version.known() || version >= kContainerdMergesImports;
  if (!joined) find_hidden(files, findings);
  find_classes(files, joined, title, host, findings);
  for (const ContainerdKind& usual : containerd_kinds()) {
    if (usual.name != kind || usual.config == config || !host.exists(usual.config)) continue;
    findings.add({Finding::Status::warning, "runtime.other-config",
                  title + " is started with " + config + "; " + usual.config + " is there and not read",
                  "change " + config + "; what others write to " + usual.config + " has no effect"});
  }
}

void diagnose_docker(const Json& facts, const Host& host, Findings& findings) {
  const std::string config = facts.value("config", "");
  const auto text = host.read(config);
  const Json content = text ? Json::parse(*text, nullptr, false) : Json::object();
  const Json runtimes = at_path(content, {"runtimes"});
  if (facts.value("snap", false) && !at_path(runtimes, {"nvidia"}).is_object())
    findings.add({Finding::Status::warning, "runtime.docker-snap",
                  "Docker is here as a snap, and " + config +
                      " has no runtime nvidia, which the snap registers there by itself where it finds a driver: its "
                      "containers get no GPUs",
                  "once the driver is there, `snap stop docker` and `snap start docker`; `snap logs "
                  "docker.nvidia-container-toolkit` says what it found"});
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
                "define it among runtimes, or take default-runtime out of " + config);
}

}  // namespace slipway::toolkit
