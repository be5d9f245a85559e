// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/crio.cpp - CRI-O: handlers in a drop-in of our own. CDI is always on where CRI-O knows it.
#include <algorithm>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kCrioConfig = "/etc/crio/crio.conf";
constexpr const char* kFolder = "/etc/crio/crio.conf.d";
constexpr const char* kCrioDropIn = "99-nvidia.conf";
constexpr const char* kCrioSocket = "/run/crio/crio.sock";
constexpr const char* kCrioUnit = "crio.service";

/// The default handler is a runtime for GPUs already.
bool default_acts(const Json& runtime) {
  const std::string name = text_of(runtime, "default_runtime");
  const Json program = at_path(runtime, {"runtimes", name, "runtime_path"});
  return program.is_string() && is_gpu_runtime(program.get<std::string>());
}

/// A handler without runtime_path starts the program of its own name.
std::string program_of(const Json& runtime, const std::string& name) {
  const std::string path = text_of(at_path(runtime, {"runtimes", name}), "runtime_path");
  return path.empty() ? name : path;
}

Json crio_low_level(const Json& runtime, const std::string& ours) {
  std::string chosen = text_of(runtime, "default_runtime");
  // Where no file names one, CRI-O's own default counts: crun in newer versions, runc in older ones.
  if (chosen.empty() && at_path(runtime, {"runtimes", "crun"}).is_object()) chosen = "crun";
  return low_level_of(program_of(runtime, chosen.empty() ? "runc" : chosen), program_of(runtime, "runc"), ours);
}

/// What the files say. @param drop_in  the one that is written, which does not count
Result<Json> read_files(const RuntimeSettings& settings, const Host& host, const std::string& config,
                        const std::string& drop_in) {
  SLIPWAY_TRY(effective, read_crio_configuration(host, config, drop_in));
  const Json runtime = at_path(effective, {"crio", "runtime"});
  const std::string ours = find_runtime(host, settings);
  return Json{{"base", crio_base_handler(settings.names, runtime)},
              {"config", config},
              {"drop_in", drop_in},
              {"default_acts", default_acts(runtime)},
              {"low_level", crio_low_level(runtime, ours)},
              {"runtime", ours}};
}

}  // namespace

Result<Json> read_crio_configuration(const Host& host, const std::string& config, const std::string& drop_in) {
  std::vector<std::string> paths{config};
  const std::string folder = folder_of(drop_in);
  const auto names = host.list(folder).value_or({});
  for (const std::string& name : names) paths.push_back(folder + "/" + name);
  Json effective = Json::object();
  for (const std::string& path : paths) {
    if (path == drop_in) continue;
    const auto text = host.read(path);
    if (!text) continue;
    SLIPWAY_TRY(value, parse_toml(*text, path));
    effective.merge_patch(value);
  }
  return effective;
}

Json crio_base_handler(const std::vector<std::string>& ours, const Json& runtime) {
  std::vector<std::string> names{"crun", "runc"};
  if (const Json name = at_path(runtime, {"default_runtime"}); name.is_string()) names.insert(names.begin(), name);
  for (const std::string& name : names) {
    Json found = at_path(runtime, {"runtimes", name});
    if (!found.is_object() || std::ranges::count(ours, name) != 0) continue;
    if (const std::string type = text_of(found, "runtime_type"); !type.empty() && type != "oci") continue;
    if (!is_gpu_runtime(text_of(found, "runtime_path"))) return found;
  }
  return Json::object();
}

Json find_crio(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("crio");
  const std::string socket = place.socket.empty() ? kCrioSocket : place.socket;
  auto daemon = find_peer(host, socket, "crio");
  const std::string unit = daemon ? daemon->unit : kCrioUnit;
  if (!daemon) daemon = read_unit(host, unit);
  if (daemon && file_name(daemon->program) != "crio") daemon.reset();
  std::string program = place.program;
  if (program.empty()) program = daemon && host.exists(daemon->program) ? daemon->program : find_program(host, "crio");
  if (program.empty()) return nullptr;
  const std::string told = daemon ? daemon->option({"--config", "-c"}) : "";
  const std::string told_folder = daemon ? daemon->option({"--config-dir", "-d"}) : "";
  const std::string config = !place.config.empty() ? place.config : !told.empty() ? told : kCrioConfig;
  const std::string folder = told_folder.empty() ? kFolder : told_folder;
  std::vector<std::string> arguments;
  if (config != kCrioConfig) arguments.insert(arguments.end(), {"--config", config});
  if (folder != kFolder) arguments.insert(arguments.end(), {"--config-dir", folder});
  return Json{{"kind", "crio"},     {"title", "CRI-O"},
              {"program", program}, {"arguments", arguments},
              {"config", config},   {"drop_in", place.drop_in.empty() ? folder + "/" + kCrioDropIn : place.drop_in},
              {"socket", socket},   {"unit", unit}};
}

Result<Json> read_crio(const RuntimeSettings& settings, const Host& host) {
  Json facts = find_crio(settings, host);
  if (facts.is_null()) return facts;
  SLIPWAY_TRY(files, read_files(settings, host, text_of(facts, "config"), text_of(facts, "drop_in")));
  facts.update(files);
  return facts;
}

Result<Json> read_crio_files(const RuntimeSettings& settings, const Host& host) {
  const EnginePlace place = settings.place("crio");
  SLIPWAY_TRY(facts, read_files(settings, host, place.config.empty() ? kCrioConfig : place.config,
                                place.drop_in.empty() ? std::string(kFolder) + "/" + kCrioDropIn : place.drop_in));
  facts["unit"] = kCrioUnit;
  return facts;
}

Status plan_crio(const RuntimeSettings& settings, const Json& facts, bool live, Plan& plan) {
  Json handler = facts.value("base", Json::object());
  const std::string binary = facts.value("runtime", "");
  if (!binary.empty()) handler["runtime_path"] = binary;
  handler["runtime_type"] = "oci";
  if (text_of(handler, "runtime_path").empty())
    return Error{ErrorCode::not_found,
                 (facts.value("base", Json::object()).empty()
                      ? std::string("CRI-O's configuration has no handler crun or runc to inherit from")
                      : std::string("the handler of CRI-O to inherit from has no runtime_path")) +
                     ", and slipway-runtime is not installed, so a handler would have no program to start",
                 facts.value("config", kCrioConfig),
                 "install slipway-runtime as /usr/bin/slipway-runtime, or name the program of crun or runc in the "
                 "configuration: runtime_path",
                 {}};
  Json config = Json::object();
  for (const std::string& name : settings.names) set_path(config, {"crio", "runtime", "runtimes", name}, handler);
  if (settings.set_as_default && !settings.names.empty())
    set_path(config, {"crio", "runtime", "default_runtime"}, settings.names.front());
  const EngineChecks checks("CRI-O", facts, settings, live);
  checks.add_config_check("crio", plan);
  Action& change = plan.add(action::file({.path = facts.value("drop_in", ""), .content = kOwnHead + to_toml(config)}));
  checks.restart_after(change, "pods with the runtime class " + settings.names.front());
  checks.add_answer_check(plan);
  return {};
}

}  // namespace slipway::toolkit
