// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include <slipway/text.hpp>

#include "toolkit/runtime/engine.hpp"
#include "toolkit/runtime/toml.hpp"
#include "toolkit/runtime/toolkit_config.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kSettings = kToolkitConfig;
constexpr const char* kDefault = "runc";
constexpr std::string_view kUsualRunc[] = {"runc", "/usr/bin/runc", "/usr/sbin/runc"};

/// What an engine's handlers start without a runtime for GPUs. @return nothing where none comes between; empty where
/// ours is the default handler already, so that what was there before does not show any more
std::optional<std::string> former_program(const Json& engine) {
  const std::string ours = engine.value("runtime", "");
  if (ours.empty()) return std::nullopt;
  Json program = at_path(engine, {"base", "options", "BinaryName"});
  if (!program.is_string()) program = at_path(engine, {"base", "runtime_path"});
  const std::string name = program.is_string() ? program.get<std::string>() : std::string();
  if (name.empty()) return kDefault;
  if (name == ours) return "";
  const bool usual = std::ranges::count(kUsualRunc, name) != 0;
  return usual ? kDefault : name;
}

Json list_for(const std::string& program) { return Json{program, "runc", "crun"}; }

}  // namespace

Result<Json> read_low_level(const Json& engines, const Host& host) {
  std::set<std::string> programs;
  for (const Json& engine : engines)
    if (auto program = former_program(engine)) programs.insert(std::move(*program));
  if (programs.empty() || programs == std::set<std::string>{kDefault}) return Json(nullptr);
  const auto text = host.read(kSettings);
  SLIPWAY_TRY(settings, parse_toml(text ? *text : "", kSettings));
  const Json configured = at_path(settings, {"nvidia-container-runtime", "runtimes"});
  const bool as_written = configured.is_array() && configured.size() == 3 && configured[0].is_string() &&
                          configured == list_for(configured[0]);
  if (programs.erase("") > 0 && as_written) programs.insert(configured[0].get<std::string>());
  if (programs.empty() || programs == std::set<std::string>{kDefault}) return Json(nullptr);
  if (programs.size() > 1)
    return Json{{"note", "the engines here start different OCI runtimes; name the one behind GPU containers in " +
                             std::string(kSettings) + " (nvidia-container-runtime.runtimes)"}};
  const Json wanted = list_for(*programs.begin());
  if (!configured.is_null() && configured != wanted) return Json(nullptr);  // somebody has decided that already
  return Json{{"runtimes", wanted}};
}

void plan_low_level(const Json& facts, const RuntimeSettings& settings, Plan& plan) {
  if (facts.contains("note")) plan.note(facts["note"].get<std::string>());
  Json set = Json::object();
  std::string why;
  if (facts.contains("runtimes")) {
    set["nvidia-container-runtime"]["runtimes"] = facts["runtimes"];
    why = "containers with GPUs are made by " + facts["runtimes"].front().get<std::string>() + " as before";
  }
  if (!settings.requests.empty()) {
    set["slipway"]["requests"] = settings.requests;
    why += (why.empty() ? "" : "; ") + std::string("containers may request the devices that `requests` has");
  }
  if (!settings.toolkit_config.empty()) {
    set.merge_patch(settings.toolkit_config);
    std::vector<std::string> names = settings.toolkit_keys;
    names.insert(names.end(), settings.toolkit_variables.begin(), settings.toolkit_variables.end());
    why += (why.empty() ? "" : "; ") + std::string("the spec has ") + joined(names);
  }
  if (!set.empty()) plan.add(action::merge({.path = kSettings, .format = "toml", .set = set})).because(why);
}

}  // namespace slipway::toolkit
