// SPDX-License-Identifier: Apache-2.0
// sysctl.cpp - kernel parameters, modules and memory settings that GPU and RDMA jobs need.
#include <map>

#include <slipway/action/triggers.hpp>
#include <slipway/plugin.hpp>
#include <slipway/text.hpp>

using namespace slipway;
using Parameters = std::map<std::string, std::string>;  // name to value, in the order of the file

const std::string kPolicy = "/sys/kernel/mm/transparent_hugepage/enabled";

// Names have dots between their parts; a slash means a dot inside a part (sysctl.d(5)).
bool is_parameter(const std::string& name) {
  constexpr auto kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  return name.find('.') != name.npos && name.find("..") == name.npos && name.find_first_not_of(kAllowed) == name.npos &&
         name.find_first_of("./-") != 0 && name.back() != '.';
}

Result<Parameters> parameters_of(const Spec& spec) {
  Parameters parameters{{"kernel.numa_balancing", "0"}, {"vm.max_map_count", "1048576"}, {"vm.zone_reclaim_mode", "0"}};
  if (spec.text("preset") == "none") parameters.clear();
  if (spec.text("preset") == "rdma")
    parameters.insert({{"net.core.rmem_max", "268435456"},
                       {"net.core.wmem_max", "268435456"},
                       {"net.ipv4.tcp_rmem", "4096 87380 134217728"},
                       {"net.ipv4.tcp_wmem", "4096 65536 134217728"}});
  const Json values = spec.value("values");
  for (const auto& [name, value] : values.items()) {
    const auto invalid = [&where = name](const std::string& what, const std::string& next) {
      return Error{.code = ErrorCode::invalid, .what = what, .where = "sysctl.values." + where, .next = next};
    };
    if (!is_parameter(name))
      return invalid("'" + name + "' is not a name of a kernel parameter",
                     "write it as `sysctl -a` prints it, for example vm.max_map_count");
    parameters[name] = value;
    if (parameters[name].find('\n') != name.npos) return invalid("the value of " + name + " must be one line", "");
  }
  return parameters;
}

std::string path_of(std::string name) {
  for (char& c : name) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return "/proc/sys/" + name;  // such as /proc/sys/net/core/rmem_max
}

std::string with_single_blanks(std::string text) {
  for (char& c : text) c = c == '\t' ? ' ' : c;  // printed by the kernel between the numbers of a list
  return joined(split_list(text, ' '), " ");
}

class Sysctl final : public Component {
 public:
  // The plan only needs to know which parameters this kernel lacks, and only for a remark.
  Result<Facts> detect(const Spec& spec, const Host& host) const override {
    SLIPWAY_TRY(parameters, parameters_of(spec));
    std::vector<std::string> unknown;
    for (const auto& [name, value] : parameters)
      if (host.has_kernel_view() && !host.exists(path_of(name))) unknown.push_back(name);
    Facts facts;
    facts.set("parameters.unknown", unknown);
    return facts;
  }

  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs&) const override {
    SLIPWAY_TRY(parameters, parameters_of(spec));
    Plan plan;
    const auto modules = spec.texts("modules");
    for (const std::string& module : modules) plan.add(action::kernel_module(module));
    const std::string lines = joined(modules, "\n") + "\n";
    if (!modules.empty())
      plan.add(action::file({.path = "/etc/modules-load.d/slipway-sysctl.conf", .content = lines}))
          .because("loads them at every boot");
    std::string content = "# Set by slipway, component sysctl; see sysctl.d(5).\n";
    for (const auto& [name, value] : parameters) content += name + " = " + value + "\n";
    if (!parameters.empty())
      plan.add(action::file({.path = "/etc/sysctl.d/60-slipway.conf", .content = content}))
          .triggers({action::restart("systemd-sysctl.service")});
    if (const std::string policy = spec.text("transparent_hugepages"); policy != "keep")
      plan.add(action::systemd_unit(
          {.name = "slipway-hugepages.service",
           .content = "[Unit]\nDescription=Policy for transparent huge pages\nConditionPathIsReadWrite=" + kPolicy +
                      "\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c 'echo " + policy + " > " +
                      kPolicy + "'\n\n[Install]\nWantedBy=sysinit.target\n"}));
    for (const std::string& name : facts.texts("parameters.unknown"))
      plan.note("this kernel has no parameter " + name + "; its line is there for one that has");
    return plan;
  }

  Result<Findings> verify(const Spec& spec, const Host& host) const override {
    SLIPWAY_TRY(parameters, parameters_of(spec));
    Findings findings;
    for (const auto& [name, wanted] : parameters) {
      if (!findings.on_live_machine(host, "sysctl." + name)) continue;
      const std::string value = with_single_blanks(host.attribute(path_of(name))), is = name + " is " + value;
      if (!host.exists(path_of(name)))
        findings.not_applicable("sysctl." + name, "this kernel has no parameter " + name);
      else
        findings.expect("sysctl." + name, value == with_single_blanks(wanted), is, is + ", not " + wanted,
                        "run `sysctl --system`; if it stays, `grep -r " + name +
                            " /etc/sysctl.d /run/sysctl.d` shows who else sets it");
    }
    for (const std::string& module : spec.texts("modules"))
      if (const std::string name = "sysctl.module." + module; findings.on_live_machine(host, name))
        findings.expect(name, host.module_loaded(module), module + " is loaded", module + " is not loaded",
                        "see `modprobe " + module + "` and `dmesg`");
    const std::string policy = spec.text("transparent_hugepages");
    if (policy == "keep" || !findings.on_live_machine(host, "sysctl.hugepages")) return findings;
    const std::string choices = host.attribute(kPolicy);  // "always [madvise] never"
    if (choices.empty())
      findings.not_applicable("sysctl.hugepages", "this kernel has no transparent huge pages");
    else
      findings.expect("sysctl.hugepages", choices.find("[" + policy + "]") != choices.npos,
                      "transparent huge pages: " + policy, "transparent huge pages: " + choices + ", not " + policy,
                      "see `systemctl status slipway-hugepages.service`");
    return findings;
  }
};

SLIPWAY_PLUGIN(component<Sysctl>("sysctl"))
