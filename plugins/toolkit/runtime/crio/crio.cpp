// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/crio/crio.cpp - CRI-O: handlers in a drop-in of our own. CDI is always on in versions of
// CRI-O that support it.
#include <algorithm>
#include <optional>

#include "toolkit/environment.hpp"
#include "toolkit/runtime/crio/configuration.hpp"
#include "toolkit/runtime/daemon.hpp"
#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/engine_checks.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kCrioDropIn = "99-nvidia.conf";
constexpr const char* kCrioSocket = "/run/crio/crio.sock";
constexpr const char* kCrioUnit = "crio.service";

/// True when the default handler is a runtime for GPUs already.
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
  // If no file sets one, CRI-O's own default is used: crun in newer versions, runc in older ones.
  if (chosen.empty() && at_path(runtime, {"runtimes", "crun"}).is_object()) chosen = "crun";
  return low_level_of(program_of(runtime, chosen.empty() ? "runc" : chosen), program_of(runtime, "runc"), ours);
}

/// Returns the process or unit of CRI-O; empty: its command is unknown.
std::optional<Daemon> find_crio_daemon(const Host& host, const std::string& socket) {
  auto daemon = find_peer(host, socket, "crio");
  if (!daemon) daemon = read_unit(host, kCrioUnit);
  if (daemon && file_name(daemon->program) != "crio") daemon.reset();
  return daemon;
}

std::string socket_of(const RuntimeSettings& settings) {
  const std::string socket = settings.place("crio").socket;
  return socket.empty() ? kCrioSocket : socket;
}

CrioPlaces places_of(const RuntimeSettings& settings, const std::optional<Daemon>& daemon) {
  CrioPlaces places = crio_places(daemon);
  if (const std::string config = settings.place("crio").config; !config.empty()) places.config = config;
  return places;
}

std::string drop_in_of(const RuntimeSettings& settings, const CrioPlaces& places) {
  const std::string named = settings.place("crio").drop_in;
  return named.empty() ? places.folder + "/" + kCrioDropIn : named;
}

/// The error when slipway's settings would have no effect.
Error overruled(const std::string& what, const CrioSource& later, const std::string& drop_in, const std::string& next) {
  return Error{ErrorCode::unsupported,
               "CRI-O takes " + what + " from " + later.place + ", which overrides " + drop_in +
                   ", the file that slipway writes",
               later.place,
               next,
               {}};
}

/// Errors: `unsupported` a later file or a flag sets the same.
Status check_counts(const RuntimeSettings& settings, const CrioConfiguration& all, const std::string& drop_in) {
  for (const std::string& name : settings.names)
    if (const CrioSource* later = all.later_with({"runtimes", name}))
      return overruled("the handler " + name, *later, drop_in,
                       "remove that handler there, or choose another name with the key `names`");
  if (settings.set_as_default && !settings.names.empty())
    if (const CrioSource* later = all.later_with({"default_runtime"});
        later && text_of(at_path(later->table, {"crio", "runtime"}), "default_runtime") != settings.names.front())
      return overruled("the default handler", *later, drop_in,
                       "remove default_runtime there, or set_as_default from the spec");
  return {};
}

/// Returns the settings from files and flags.
Result<Json> read_settled(const RuntimeSettings& settings, const Host& host, const std::optional<Daemon>& daemon) {
  const CrioPlaces places = places_of(settings, daemon);
  const std::string drop_in = drop_in_of(settings, places);
  SLIPWAY_TRY(all, CrioConfiguration::read(host, places, drop_in, daemon));
  SLIPWAY_CHECK(check_counts(settings, all, drop_in));
  const Json runtime = at_path(all.table(), {"crio", "runtime"});
  const std::string ours = find_runtime(host, settings);
  return Json{{"base", crio_base_handler(settings.names, runtime)},
              {"config", places.config},
              {"drop_in", drop_in},
              {"default_acts", default_acts(runtime)},
              {"low_level", crio_low_level(runtime, ours)},
              {"runtime", ours}};
}

/// Returns CRI-O's program and arguments. Null: it is not installed.
Json facts_of_program(const RuntimeSettings& settings, const Host& host, const std::optional<Daemon>& daemon) {
  std::string program = settings.place("crio").program;
  if (program.empty()) program = daemon && host.exists(daemon->program) ? daemon->program : find_program(host, "crio");
  if (program.empty()) return nullptr;
  const CrioPlaces places = places_of(settings, daemon);
  const CrioPlaces usual = crio_places({});
  std::vector<std::string> arguments;
  if (places.config != usual.config) arguments.insert(arguments.end(), {"--config", places.config});
  if (places.folder != usual.folder) arguments.insert(arguments.end(), {"--config-dir", places.folder});
  return Json{{"kind", "crio"},
              {"title", "CRI-O"},
              {"program", program},
              {"arguments", arguments},
              {"config", places.config},
              {"drop_in", drop_in_of(settings, places)},
              {"socket", socket_of(settings)},
              {"unit", daemon && !daemon->unit.empty() ? daemon->unit : std::string(kCrioUnit)}};
}

}  // namespace

Result<Json> read_crio_configuration(const RuntimeSettings& settings, const Host& host) {
  const auto daemon = find_crio_daemon(host, socket_of(settings));
  const CrioPlaces places = places_of(settings, daemon);
  SLIPWAY_TRY(all, CrioConfiguration::read(host, places, drop_in_of(settings, places), daemon));
  return all.table();
}

Json crio_base_handler(const std::vector<std::string>& ours, const Json& runtime) {
  std::vector<std::string> names{"crun", "runc"};
  if (const Json name = at_path(runtime, {"default_runtime"}); name.is_string()) names.insert(names.begin(), name);
  for (const std::string& name : names) {
    Json found = at_path(runtime, {"runtimes", name});
    if (!found.is_object() || std::ranges::count(ours, name) != 0) continue;
    if (const std::string type = text_of(found, "runtime_type"); !type.empty() && type != "oci") continue;
    if (is_gpu_runtime(text_of(found, "runtime_path"))) continue;
    // CRI-O would start the program in these keys instead of runtime_path.
    found.erase("inherit_default_runtime");
    found.erase("platform_runtime_paths");
    return found;
  }
  return Json::object();
}

Json find_crio(const RuntimeSettings& settings, const Host& host) {
  return facts_of_program(settings, host, find_crio_daemon(host, socket_of(settings)));
}

Result<Json> read_crio(const RuntimeSettings& settings, const Host& host) {
  const auto daemon = find_crio_daemon(host, socket_of(settings));
  Json facts = facts_of_program(settings, host, daemon);
  if (facts.is_null()) return facts;
  SLIPWAY_TRY(settled, read_settled(settings, host, daemon));
  facts.update(settled);
  return facts;
}

Result<Json> read_crio_files(const RuntimeSettings& settings, const Host& host) {
  SLIPWAY_TRY(facts, read_settled(settings, host, read_unit(host, kCrioUnit)));
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
                 facts.value("config", ""),
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
