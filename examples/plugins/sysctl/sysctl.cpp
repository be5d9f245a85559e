// SPDX-License-Identifier: Apache-2.0
#include "sysctl.hpp"

#include <algorithm>
#include <sstream>

#include "presets.hpp"

namespace sysctl {
namespace {

using namespace slipway;

constexpr const char* kParameterFile = "/etc/sysctl.d/60-slipway.conf";
constexpr const char* kModuleFile = "/etc/modules-load.d/slipway-sysctl.conf";
constexpr const char* kPolicy = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* kPolicyUnit = "slipway-hugepages.service";

std::string file_of(const Parameters& parameters) {
  std::string text = "# Set by slipway, component sysctl; see sysctl.d(5).\n";
  for (const auto& [name, value] : parameters) text += name + " = " + value + "\n";
  return text;
}

std::string unit_of(const std::string& policy) {
  return "[Unit]\n"
         "Description=Policy for transparent huge pages\n"
         "ConditionPathIsReadWrite=" +
         std::string(kPolicy) +
         "\n\n"
         "[Service]\n"
         "Type=oneshot\n"
         "RemainAfterExit=yes\n"
         "ExecStart=/bin/sh -c 'echo " +
         policy + " > " + kPolicy +
         "'\n\n"
         "[Install]\n"
         "WantedBy=sysinit.target\n";
}

/// The kernel prints lists with tabs between the numbers.
std::string with_single_blanks(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

void verify_parameter(const std::string& name, const std::string& wanted, const Host& host, Findings& findings) {
  const std::string finding = "sysctl." + name;
  const std::string path = path_of(name);
  if (!host.live()) return findings.not_exercised(finding, "the root is not a running machine's");
  if (!host.exists(path)) return findings.not_applicable(finding, "this kernel has no parameter " + name);
  const std::string value = with_single_blanks(host.attribute(path));
  if (value == with_single_blanks(wanted)) return findings.pass(finding, name + " is " + value);
  findings.fail(
      finding, name + " is " + value + ", not " + wanted,
      "run `sysctl --system`; if it stays, `grep -r " + name + " /etc/sysctl.d /run/sysctl.d` shows who else sets it");
}

void verify_modules(const std::vector<std::string>& modules, const Host& host, Findings& findings) {
  for (const std::string& module : modules) {
    const std::string finding = "sysctl.module." + module;
    if (!host.live())
      findings.not_exercised(finding, "the root is not a running machine's");
    else if (host.module_loaded(module))
      findings.pass(finding, module + " is loaded");
    else
      findings.fail(finding, module + " is not loaded", "see `modprobe " + module + "` and `dmesg`");
  }
}

void verify_policy(const std::string& policy, const Host& host, Findings& findings) {
  const std::string choices = host.attribute(kPolicy);  // "always [madvise] never"
  if (!host.live())
    findings.not_exercised("sysctl.hugepages", "the root is not a running machine's");
  else if (choices.empty())
    findings.not_applicable("sysctl.hugepages", "this kernel has no transparent huge pages");
  else if (choices.find("[" + policy + "]") != std::string::npos)
    findings.pass("sysctl.hugepages", "transparent huge pages: " + policy);
  else
    findings.fail("sysctl.hugepages", "transparent huge pages: " + choices + ", not " + policy,
                  std::string("see `systemctl status ") + kPolicyUnit + "`");
}

}  // namespace

// Which parameters this kernel has is all that the plan needs to know of the machine, and only for a remark.
Result<Facts> Sysctl::detect(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(parameters, wanted_parameters(spec));
  Facts facts;
  Json unknown = Json::array();
  if (host.has_kernel_view())
    for (const auto& [name, value] : parameters)
      if (!host.exists(path_of(name))) unknown.push_back(name);
  facts.set("parameters.unknown", unknown);
  return facts;
}

Result<Plan> Sysctl::plan(const Spec& spec, const Facts& facts, const Inputs&) const {
  SLIPWAY_TRY(parameters, wanted_parameters(spec));
  Plan plan;
  std::string modules;
  for (const std::string& module : spec.texts("modules")) {
    modules += module + "\n";
    plan.add(action::kernel_module(module));
  }
  if (!modules.empty())
    plan.add(action::file({.path = kModuleFile, .content = modules})).because("loads them at every boot");
  if (!parameters.empty())
    plan.add(action::file({.path = kParameterFile, .content = file_of(parameters)}))
        .triggers({"restart:systemd-sysctl.service"});
  if (const std::string policy = spec.text("transparent_hugepages"); policy != "keep" && !policy.empty())
    plan.add(action::systemd_unit({.name = kPolicyUnit, .content = unit_of(policy)}));
  for (const std::string& name : facts.texts("parameters.unknown"))
    plan.note("this kernel has no parameter " + name + "; its line is there for one that has");
  return plan;
}

Result<Findings> Sysctl::verify(const Spec& spec, const Host& host) const {
  SLIPWAY_TRY(parameters, wanted_parameters(spec));
  Findings findings;
  for (const auto& [name, value] : parameters) verify_parameter(name, value, host, findings);
  verify_modules(spec.texts("modules"), host, findings);
  if (const std::string policy = spec.text("transparent_hugepages"); policy != "keep" && !policy.empty())
    verify_policy(policy, host, findings);
  return findings;
}

}  // namespace sysctl
