// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/toolkit/runtime/runtime_fixture.hpp - machines with container engines, and the plan of the
// component runtime there.
#pragma once

#include <string>

#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/summary.hpp>
#include <slipway/text.hpp>

#include "toolkit/runtime/component/component.hpp"
#include "toolkit/runtime/toml.hpp"

namespace slipway::toolkit {

inline const std::string kConfig = "/etc/containerd/config.toml";

/// The section as the core passes it: only the keys of a spec, and the manifest's defaults.
inline Spec runtime_spec(const Json& more = Json::object()) {
  Json section{{"runtime_path", "auto"}, {"env", Json::object()}};
  section.update(more);
  return Spec(section);
}

/// A running machine with systemd and a GPU.
inline testing::FakeHost& be_node(testing::FakeHost& host) {
  return host.live("6.1.0-50-amd64")
      .directory("/run/systemd/system")
      .pci({.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200});
}

/// dpkg's list has the version of each installed package.
inline void install(testing::FakeHost& host, const std::string& program, const std::string& package,
                    const std::string& version) {
  host.file("/usr/bin/" + program, "x", 0755);
  host.file("/var/lib/dpkg/status", "Package: other\nStatus: install ok installed\nVersion: 9.9\n\nPackage: " +
                                        package + "\nStatus: install ok installed\nVersion: " + version + "\n");
}

inline Result<Plan> plan_of(const testing::FakeHost& host, const Spec& spec) {
  const Runtime runtime;
  SLIPWAY_TRY(facts, runtime.detect(spec, host));
  const Inputs inputs(Json{{"target", {{"live", host.live()}}}});
  return runtime.plan(spec, facts, inputs);
}

/// Returns the actions of a plan, one line each, or its error.
inline std::string actions_of(const testing::FakeHost& host, const Spec& spec = runtime_spec()) {
  const auto plan = plan_of(host, spec);
  if (!plan) return to_text(plan.error());
  std::string text;
  for (const std::string& line : lines_of(testing::summary(*plan)))
    if (!line.starts_with("note: ")) text += line + "\n";
  return text;
}

/// Changes the host's files as the plan requires, like the core.
inline void carry_out_files(testing::FakeHost& host, const Plan& plan) {
  for (const Action& action : plan.actions()) {
    if (action.kind() == "file") host.file(action.target(), action.text("content"));
    if (action.kind() != "merge") continue;
    Json config = parse_toml(host.read(action.target()).value_or(""), action.target()).value();
    config.merge_patch(action.value("set"));
    host.file(action.target(), to_toml(config));
  }
}

/// Returns the keys that the only action of a plan sets.
inline Json set_of(const testing::FakeHost& host, const Spec& spec) {
  const auto plan = plan_of(host, spec);
  if (!plan || plan->actions().size() != 1) return plan ? Json(testing::summary(*plan)) : to_json(plan.error());
  return plan->actions().front().value("set");
}

/// Returns the only file of a plan, without our first line.
inline Json file_of(const testing::FakeHost& host, const Spec& spec) {
  const auto plan = plan_of(host, spec);
  if (!plan || plan->actions().size() != 1) return plan ? Json(testing::summary(*plan)) : to_json(plan.error());
  const std::string content = plan->actions().front().text("content");
  const auto value = parse_toml(content, "the planned file");
  return value ? *value : Json(content);
}

}  // namespace slipway::toolkit
