// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/probe.cpp - components that behave as a test's spec tells them.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

#include <slipway/plugin.hpp>

namespace slipway::probe {

/// Maps the path to the keys to set, as JSON text; the path's suffix is the format.
void add_merges(const Spec& spec, Plan& plan) {
  const Json merges = spec.value("merges");
  for (const auto& [path, keys] : merges.items())
    plan.add(action::merge(
        {.path = path, .format = path.substr(path.rfind('.') + 1), .set = Json::parse(keys.get<std::string>())}));
}

/// Units that are enabled, and started if systemd is available.
void add_units(const Spec& spec, Plan& plan) {
  const Json units = spec.value("units");
  for (const auto& [name, content] : units.items())
    plan.add(
        action::systemd_unit({.name = name, .content = content.get<std::string>(), .enabled = true, .started = true}));
}

/// If the file exists, creates the file outside of the root that it names, and sleeps forever.
void hang_at(const char* path, const Host& host) {
  const auto marker = host.read(path);
  if (!marker) return;
  std::ofstream(*marker) << "asleep";
  std::this_thread::sleep_for(std::chrono::minutes(10));
}

class Probe : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    hang_at("/etc/probe-hang-in-detect", host);
    if (const auto words = host.read("/etc/probe-says")) std::fputs(words->c_str(), stdout);
    std::fflush(stdout);
    if (host.exists("/etc/probe-has-no-hardware") && host.hardware() == "detect")
      return Facts::not_applicable("there is no probe here");
    Facts facts;
    if (!spec.flag("kernel")) return facts;
    SLIPWAY_TRY(kernel, host.kernel_release());
    facts.set("kernel", kernel);
    facts.set("hardware", host.hardware());
    return facts;
  }

  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs&) const override {
    Plan plan;
    if (spec.flag("kernel"))
      plan.add(
          action::file({.path = "/etc/probe-kernel", .content = facts.text("kernel") + " " + facts.text("hardware")}));
    const Json files = spec.value("files");
    for (const auto& [path, content] : files.items()) {
      Action& file = plan.add(action::file({.path = path, .content = content.get<std::string>()}));
      if (const std::string trigger = spec.text("trigger"); !trigger.empty()) file.triggers({trigger});
    }
    for (const std::string& raw : spec.texts("raw")) plan.add(Action(Json::parse(raw)));
    add_merges(spec, plan);
    add_units(spec, plan);
    if (spec.flag("node")) plan.add(action::device_node({.path = "/dev/probe", .major = 1, .minor = 3}));
    if (spec.flag("moody")) plan.add(action::file({.path = "/etc/mood", .content = std::to_string(ticks())}));
    if (spec.text("custom") != "none")
      plan.add(action::custom(
          {.name = "act",
           .data = {{"how", spec.text("custom")}, {"marker", spec.text("marker")}, {"in_use", spec.text("in_use")}},
           .inverse = nullptr,
           .irreversible = "a test"}));
    plan.output("greeting", spec.text("greeting"));
    return plan;
  }

  Result<Findings> verify(const Spec&, const Host& host) const override {
    Findings findings;
    findings.pass("probe.here", "it answers");
    if (host.exists("/etc/probe-broken")) findings.fail("probe.works", "it is broken", "remove /etc/probe-broken");
    if (host.exists("/etc/probe-crash")) std::abort();
    hang_at("/etc/probe-hang-in-verify", host);
    return findings;
  }

  // The marker represents the state of a device, which is outside of the root's files.
  Result<bool> check(const Action& action, const Host&) const override {
    return std::filesystem::exists(action.value("data").value("marker", ""));
  }

  Result<Outcome> apply(const Action& action, const Host&) const override {
    const std::string how = action.value("data").value("how", "");
    if (how.starts_with("naps")) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (how == "fails" || how == "naps and fails")
      return Error{ErrorCode::busy, "the custom action was told to fail", {}, "expect it", {}};
    if (how == "crashes") std::abort();
    if (how == "waits" && std::filesystem::exists(action.value("data").value("in_use", "")))
      return Outcome::waiting("the probe's device is in use", {"python3 (pid 7)"});
    if (how == "reboots") return Outcome::reboot_required("another kernel runs");
    if (how == "sleeps") std::this_thread::sleep_for(std::chrono::minutes(10));
    std::ofstream(action.value("data").value("marker", "")) << how;
    return Outcome::done();
  }

 private:
  static std::int64_t ticks() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
};

class Follower final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    Facts facts;
    if (spec.text("needs").empty()) return facts;
    SLIPWAY_TRY(text, host.read(spec.text("needs")));
    facts.set("text", text);
    return facts;
  }
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override {
    Plan plan;
    const std::string text = inputs.output("probe", "greeting").get<std::string>() + facts.text("text");
    plan.add(action::file({.path = spec.text("file"), .content = text}));
    return plan;
  }
  Result<Findings> verify(const Spec&, const Host& host) const override {
    Findings findings;
    if (host.exists("/etc/follower-broken")) findings.fail("follower.works", "it is broken", "remove the file");
    return findings;
  }
};

class Bystander final : public Probe {
 public:
  Result<Plan> plan(const Spec& spec, const Facts&, const Inputs&) const override {
    Plan plan;
    add_merges(spec, plan);
    add_units(spec, plan);
    plan.add(action::file({.path = spec.text("file"), .content = "here\n"}));
    if (const std::string marker = spec.text("naps_until"); !marker.empty())
      plan.add(action::custom({.name = "act",
                               .data = {{"how", "naps"}, {"marker", marker}},
                               .inverse = nullptr,
                               .irreversible = "a test"}));
    return plan;
  }
  Result<Findings> verify(const Spec&, const Host&) const override { return Findings{}; }
};

}  // namespace slipway::probe

SLIPWAY_PLUGIN(slipway::component<slipway::probe::Probe>("probe"),
               slipway::component<slipway::probe::Follower>("follower"),
               slipway::component<slipway::probe::Bystander>("bystander"))
