// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include <slipway/action/triggers.hpp>
#include <slipway/text.hpp>

#include "gpus.hpp"

using namespace slipway;

namespace rocm {
namespace {

constexpr const char* kModule = "amdgpu";

/// Returns "noretry=0" for each option, in the order of their names.
Result<std::vector<std::string>> options_of(const Spec& spec) {
  std::vector<std::string> options;
  const Json given = spec.value("options");
  for (const auto& [name, value] : given.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : canonical(value);
    const bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                           std::string::npos &&
                       !value.is_structured() && !value.is_null() &&
                       text.find_first_of(" \t\n\"'#") == std::string::npos;
    if (!plain)
      return Error{ErrorCode::invalid,
                   "'" + name + "' cannot be written to modprobe.d(5): the name or the value is invalid",
                   "spec.components.rocm.options." + name,
                   "write it as `modinfo -p amdgpu` lists it: noretry: 0",
                   {}};
    options.push_back(name + "=" + text);
  }
  return options;
}

}  // namespace

Result<Facts> Driver::detect(const Spec&, const Host& host) const {
  const auto found = functions(host);
  if (found.empty() && host.hardware() == "detect") return Facts::not_applicable("no AMD GPU on the PCI bus");
  Facts facts;
  facts.set("gpu.count", found.size());
  return facts;
}

Result<Plan> Driver::plan(const Spec& spec, const Facts&, const Inputs&) const {
  SLIPWAY_TRY(options, options_of(spec));
  Plan plan;
  plan.add(action::file({.path = "/usr/lib/sysusers.d/slipway-rocm.conf", .content = "g render -\ng video -\n"}))
      .because("the devices belong to these groups")
      .triggers({action::sysusers()});
  plan.add(action::file({.path = "/etc/udev/rules.d/70-slipway-rocm.rules",
                         .content = "KERNEL==\"kfd\", GROUP=\"render\", MODE=\"0660\"\n"
                                    "SUBSYSTEM==\"drm\", KERNEL==\"renderD*\", GROUP=\"render\", MODE=\"0660\"\n"
                                    "SUBSYSTEM==\"drm\", KERNEL==\"card[0-9]*\", GROUP=\"video\", MODE=\"0660\"\n"}))
      .triggers({action::udev("kfd"), action::udev("drm")});
  if (!options.empty()) {
    plan.add(action::file(
        {.path = "/etc/modprobe.d/slipway-rocm.conf", .content = "options amdgpu " + joined(options, " ") + "\n"}));
    plan.note("options of amdgpu take effect when it is loaded next");
  }
  plan.add(action::file({.path = "/etc/modules-load.d/slipway-rocm.conf", .content = std::string(kModule) + "\n"}))
      .because("loads it at every boot");
  if (const auto folders = spec.texts("libraries"); !folders.empty())
    plan.add(action::file({.path = "/etc/ld.so.conf.d/slipway-rocm.conf", .content = joined(folders, "\n") + "\n"}))
        .triggers({action::ldconfig()});
  plan.add(action::kernel_module(kModule, options));
  return plan;
}

Result<Findings> Driver::verify(const Spec& spec, const Host& host) const {
  Findings findings;
  SLIPWAY_TRY(options, options_of(spec));
  const auto gpu_functions = functions(host);
  if (gpu_functions.empty()) {
    findings.not_applicable("rocm.gpus", "no AMD GPU on the PCI bus");
    return findings;
  }
  findings.pass("rocm.gpus", std::to_string(gpu_functions.size()) + " GPUs on the PCI bus");
  if (!findings.on_live_machine(host, "rocm.module")) return findings;
  findings.expect("rocm.module", host.module_loaded(kModule), "amdgpu is loaded", "amdgpu is not loaded",
                  "see `modprobe amdgpu` and `dmesg`");
  findings.expect("rocm.kfd", host.opens("/dev/kfd").ok(), "jobs can open /dev/kfd", "/dev/kfd cannot be opened",
                  "see `dmesg | grep kfd`");
  for (const std::string& option : options) {
    const std::string name = option.substr(0, option.find('=')), wanted = option.substr(option.find('=') + 1);
    const std::string value = host.attribute(std::string("/sys/module/amdgpu/parameters/") + name);
    if (value == wanted)
      findings.pass("rocm.options." + name, name + " is " + value);
    else
      findings.warning("rocm.options." + name,
                       name + " is " + (value.empty() ? "no option of amdgpu" : value) + ", not " + wanted,
                       "reboot, or load amdgpu again; `modinfo -p amdgpu` lists the options that there are");
  }
  return findings;
}

}  // namespace rocm
