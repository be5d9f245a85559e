// SPDX-License-Identifier: Apache-2.0
// tests/component/plugin-check/faulty.cpp - a component with the fault that its spec names.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>

#include <slipway/plugin.hpp>

namespace slipway::faulty {

constexpr const char* kFile = "/etc/faulty.conf";

/// Bypasses the Host, which plugins must not do.
void write_sneakily(const Host& host, const char* path) { std::ofstream(host.root_folder() + path) << "sneaky\n"; }

class Faulty final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    const std::string fault = spec.text("fault");
    if (fault == "crashes") std::raise(SIGKILL);
    if (fault == "writes-when-looking") write_sneakily(host, "/etc/sneaky");
    Facts facts;
    facts.set("settled", host.exists(kFile));
    if (fault == "other-facts-each-time") facts.set("random", std::random_device()());
    if (fault == "reads-a-secret") facts.set("token", host.secret(spec.value("token")).ok());
    if (host.has_kernel_view()) {
      facts.set("gpus", host.pci_devices({.vendor = 0x10de, .base_class = 0x03}).size());
      if (fault == "only-on-an-l4" && host.pci_devices({}).front().device != 0x27b8)
        return Facts::not_applicable("no L4");
      if (fault == "for-another-vendor" && host.pci_devices({.vendor = 0x1002, .base_class = {}}).empty())
        return Facts::not_applicable("no GPU of AMD's");
      if (fault != "needs-hardware" && facts.value("gpus") == 0) return Facts::not_applicable("no GPU");
    }
    return facts;
  }

  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs&) const override {
    const std::string fault = spec.text("fault");
    if (fault == "needs-a-kernel" && !facts.has("gpus"))
      return Error{ErrorCode::not_found, "there is no kernel", "", "", {}};
    if (fault == "needs-hardware" && facts.value("gpus") == 0)
      return Error{ErrorCode::not_found, "there is no GPU", "", "", {}};
    std::string content = "a\n";
    if (fault == "other-plan-each-time")
      content = std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + "\n";
    if (fault == "never-settles") content += facts.flag("settled") ? "again\n" : "first\n";
    if (fault == "reads-the-environment") content += std::getenv("TZ") == nullptr ? "here" : std::getenv("TZ");
    if (fault == "mistyped-key") content += spec.flag("fault") ? "on" : "off";
    if (fault == "json-of-another-type") content += std::to_string(spec.json()["fault"].get<int>());
    if (fault == "undeclared-key") content += spec.text("mod");
    Plan plan;
    if (fault == "makes-groups")
      plan.add(action::file({.path = "/usr/lib/sysusers.d/faulty.conf", .content = "g faulty - -\n"}))
          .triggers({"sysusers"});
    if (fault == "custom-without-calls")
      plan.add(action::custom({.name = "act", .data = 1, .inverse = nullptr, .irreversible = "a test"}));
    if (fault == "exec-without-check")
      plan.add(action::exec({.name = "act", .argv = {"true"}, .check = {}, .undo = {}}));
    plan.add(action::file({.path = kFile, .content = content}));
    if (const std::string claims = spec.has("claims") ? spec.text("claims") : ""; claims.ends_with(".service"))
      plan.add(action::systemd_unit({.name = claims, .content = "[Service]\nExecStart=/bin/true\n"}));
    else if (!claims.empty())
      plan.add(action::file({.path = claims, .content = "faulty\n"}));
    plan.add(action::directory("/var/lib/faulty"));
    plan.add(action::symlink("/etc/faulty", "/var/lib/faulty"));
    return plan;
  }

  Result<Findings> verify(const Spec& spec, const Host& host) const override {
    const std::string fault = spec.text("fault");
    Findings findings;
    if (fault == "verify-finds-nothing") return findings;
    if (fault == "verify-writes") write_sneakily(host, "/etc/seen");
    if (fault == "verify-fails")
      findings.fail("faulty.works", "it never does", "choose another fault");
    else
      findings.pass("faulty.works", "it does");
    return findings;
  }
};

class Lame final : public Component {
 public:
  Result<Plan> plan(const Spec& spec, const Facts&, const Inputs&) const override {
    Plan plan;
    const std::string group = spec.has("group") ? spec.text("group") : "root";
    plan.add(action::file({.path = "/etc/lame.conf", .content = "a\n", .group = group}));
    if (spec.flag("custom"))
      plan.add(action::custom({.name = "act", .data = 1, .inverse = nullptr, .irreversible = "a test", .summary = {}}));
    return plan;
  }
  Result<bool> check(const Action&, const Host&) const override { return true; }
};

}  // namespace slipway::faulty

SLIPWAY_PLUGIN(slipway::component<slipway::faulty::Faulty>("faulty"), slipway::component<slipway::faulty::Lame>("lame"))
