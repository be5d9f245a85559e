// SPDX-License-Identifier: Apache-2.0
// tests/component/author/faulty.cpp - a component with the fault that its spec names.
#include <chrono>
#include <csignal>
#include <fstream>

#include <slipway/plugin.hpp>

namespace slipway::faulty {

constexpr const char* kFile = "/etc/faulty.conf";

/// Past the Host, as no plugin should.
void write_sneakily(const Host& host, const char* path) { std::ofstream(host.root_folder() + path) << "sneaky\n"; }

class Faulty final : public Component {
 public:
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    const std::string fault = spec.text("fault");
    if (fault == "crashes") std::raise(SIGKILL);
    if (fault == "writes-when-looking") write_sneakily(host, "/etc/sneaky");
    Facts facts;
    facts.set("settled", host.exists(kFile));
    if (host.has_kernel_view()) {
      facts.set("gpus", host.pci_devices({.vendor = 0x10de, .base_class = 0x03}).size());
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
    Plan plan;
    plan.add(action::file({.path = kFile, .content = content}));
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

}  // namespace slipway::faulty

SLIPWAY_PLUGIN(slipway::component<slipway::faulty::Faulty>("faulty"))
