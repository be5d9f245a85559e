// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/component.hpp"

#include <algorithm>
#include <optional>

#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"
#include "toolkit/cdi/component/facts.hpp"
#include "toolkit/runtime/cdi_folders/cdi_folders.hpp"

namespace slipway::toolkit {
namespace {

std::string number_of(const Json& node) {
  return std::to_string(node.value("major", 0)) + ":" + std::to_string(node.value("minor", 0));
}

/// The driver on the host is not the one that the component driver installs: the core runs detect() again after that.
std::optional<Error> other_driver(const Spec& spec, const Facts& facts, const Inputs& inputs) {
  const Json wanted = inputs.output("driver", "driver_root");
  const std::string found = facts.text("driver_root");
  if (spec.text("driver_root") != "auto" || !wanted.is_string() || wanted == found) return std::nullopt;
  return Error{ErrorCode::not_found,
               "the component driver installs the driver below " + wanted.get<std::string>() +
                   ", but the present driver is below " + found,
               "spec.components.cdi.driver_root",
               "set driver_root to the root to use, or remove one of the two drivers",
               {}};
}

/// For components that use devices of these specs, such as deviceplugin.
void output_spec_devices(const Spec& spec, const Facts& facts, Plan& plan) {
  const CdiSettings settings = read_cdi_settings(spec);
  std::vector<std::string> kinds;
  for (const Mode mode : settings.modes) kinds.push_back(settings.kind_of(mode));
  std::vector<std::string> absent;
  if (!facts.has("later")) {  // the machine can be read
    const std::vector<std::string> made = facts.texts("kinds");
    for (const std::string& kind : kinds)
      if (std::ranges::count(made, kind) == 0) absent.push_back(kind);
    kinds = made;
  }
  plan.output("kinds", joined(kinds, ","));
  plan.output("absent_kinds", joined(absent, ","));
  plan.output("names", joined(spec.texts("names"), ","));
}

/// Returns a sentence for each engine that does not read the specs' folder, with the remedy.
std::vector<std::string> unread_by_engines(const std::string& folder, const Host& host) {
  std::vector<std::string> sentences;
  for (const EngineFolders& engine : read_engine_folders(host))
    if (!engine.has(folder)) sentences.push_back(to_text(engine, folder) + ": " + remedy_for(engine, folder));
  return sentences;
}

/// Returns the target in udev's form: "../nvidia0", "../nvidia-caps/nvidia-cap1".
std::string char_link_target(const std::string& node) { return ".." + node.substr(std::string_view("/dev").size()); }

}  // namespace

Result<Facts> Cdi::detect(const Spec& spec, const Host& host) const {
  if (auto none = nvidia::facts_without_gpu(host)) return *std::move(none);
  const CdiSettings settings = read_cdi_settings(spec);
  const CdiFacts found = read_cdi_facts(settings, host);
  Facts facts;
  std::vector<std::string> kinds;
  for (const auto& [path, each] : found.specs) kinds.push_back(each.kind);
  facts.set("kinds", kinds);
  Json texts = Json::object();
  for (const auto& [path, each] : found.specs) texts[path] = settings.text_of(each);
  facts.set("specs", std::move(texts));
  facts.set("nodes", linked_nodes(found.specs));
  if (found.later.empty()) facts.set("driver_root", found.roots.driver);
  facts.set("notes", found.notes);
  std::vector<std::string> lost;
  for (const LostNote& each : found.lost) lost.push_back(each.text + "; " + each.remedy);
  facts.set("lost", lost);
  facts.set("unread", unread_by_engines(settings.folder, host));
  if (!found.later.empty()) facts.set("later", found.later);
  if (found.problem) facts.set("problem", to_json(*found.problem));
  return facts;
}

Result<Plan> Cdi::plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const {
  Plan plan;
  for (const std::string& unread : facts.texts("unread")) plan.note(unread);
  output_spec_devices(spec, facts, plan);
  if (facts.has("later")) {
    plan_refresh_units(read_cdi_settings(spec), inputs.target().slipway, plan);
    plan.note(facts.text("later"));
    return plan;
  }
  if (auto error = other_driver(spec, facts, inputs)) return std::move(*error);
  // The core calls detect() and plan() again when an earlier component has changed something.
  if (facts.has("problem")) return error_from_json(facts.value("problem"));
  const Json specs = facts.value("specs");
  for (const auto& [path, text] : specs.items())
    plan.add(action::file({.path = path, .content = text, .on_drift = "replace"}))
        .because("container engines read the GPUs of this boot from this file");
  const Json nodes = facts.value("nodes");
  if (spec.flag("char_links") && inputs.target().live)
    for (const Json& node : nodes)
      plan.add(action::symlink("/dev/char/" + number_of(node), char_link_target(node.value("path", ""))))
          .because("the device cgroup of containers finds the node by this link");
  plan_refresh_units(read_cdi_settings(spec), inputs.target().slipway, plan);
  for (const std::string& note : facts.texts("notes")) plan.note(note);
  for (const std::string& lost : facts.texts("lost")) plan.note(lost);
  return plan;
}

}  // namespace slipway::toolkit
