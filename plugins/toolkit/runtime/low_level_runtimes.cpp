// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

Json list_for(const std::string& program) {
  Json list{program};
  for (const char* usual : {"runc", "crun"})
    if (program != usual) list.push_back(usual);
  return list;
}

/// True when the list has the form that slipway writes, and no runtime for GPUs comes first.
bool as_written(const Json& list) {
  if (!list.is_array() || list.empty() || !list[0].is_string()) return false;
  const std::string first = list[0];
  return list == list_for(first) && !is_gpu_runtime(first);
}

}  // namespace

Json low_level_of(const std::string& of_default, const std::string& of_runc, const std::string& ours) {
  const auto for_gpus = [&ours](const std::string& program) { return program == ours || is_gpu_runtime(program); };
  const auto counts = [&](const std::string& program) {
    return !program.empty() && std::ranges::count(kUsualRunc, program) == 0 && !for_gpus(program);
  };
  const bool hidden = !of_default.empty() && for_gpus(of_default);
  // A default handler without a program may be of another kind, such as Kata's.
  const std::string program = hidden || of_default.empty() ? of_runc : of_default;
  return Json{{"program", counts(program) ? program : kDefault},
              {"hidden", hidden},
              {"stated", !counts(program) && counts(of_runc)}};
}

Result<Json> read_low_level_runtime(const Json& engines, const Host& host) {
  std::set<std::string> programs;
  bool hidden = false;  // the default handler of an engine is a runtime for GPUs
  bool stated =
      false;  // the program must be written: another one would be used once the default handler is one for GPUs
  for (const Json& engine : engines) {
    const Json low_level = at_path(engine, {"low_level"});
    if (text_of(engine, "runtime").empty() || !low_level.is_object()) continue;
    programs.insert(text_of(low_level, "program"));
    hidden = hidden || low_level.value("hidden", false);
    stated = stated || low_level.value("stated", false);
  }
  if (programs.empty()) return Json(nullptr);
  const auto text = host.read(kSettings);
  SLIPWAY_TRY(settings, parse_toml(text ? *text : "", kSettings));
  const Json configured = at_path(settings, {"nvidia-container-runtime", "runtimes"});
  if (hidden && as_written(configured)) return Json{{"runtimes", configured}};
  if (programs == std::set<std::string>{kDefault} && !stated) return Json(nullptr);
  if (programs.size() > 1)
    return Json{{"note", "the engines here start different OCI runtimes; name the one for GPU containers in " +
                             std::string(kSettings) + " (nvidia-container-runtime.runtimes)"}};
  const Json wanted = list_for(*programs.begin());
  if (!configured.is_null() && configured != wanted) return Json(nullptr);  // the user has set it already
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
    why += (why.empty() ? "" : "; ") + std::string("the key `requests` allows containers to request devices");
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
