// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "driver/detect/host_facts.hpp"

namespace slipway::driver {
namespace {

Json gpu_to_json(const nvidia::Gpu& gpu) {
  return {{"address", gpu.address},
          {"device", fmt::format("{:04x}", gpu.device.value_or(0))},
          {"name", gpu.name},
          {"architecture", nvidia::to_string(gpu.architecture)},
          {"driver", gpu.driver}};
}

nvidia::Gpu gpu_from_json(const Json& value) {
  auto gpu = nvidia::gpu_from_text("10de:" + value.value("device", "0000")).value_or(nvidia::Gpu{});
  gpu.address = value.value("address", "");
  gpu.driver = value.value("driver", "");
  return gpu;
}

Json headers_to_json(const KernelHeaders& headers) {
  return {{"path", headers.path},
          {"compiler", headers.compiler},
          {"preempt_rt", headers.preempt_rt},
          {"identity", headers.identity}};
}

KernelHeaders headers_from_json(const Json& value) {
  return {value.value("path", ""), value.value("compiler", ""), value.value("preempt_rt", false),
          value.value("identity", Json::object())};
}

void set_hardware(const HostFacts& from, Facts& facts) {
  Json gpus = Json::array();
  for (const auto& gpu : from.gpus) gpus.push_back(gpu_to_json(gpu));
  facts.set("kernel_view", from.kernel_view);
  facts.set("gpus", gpus);
  facts.set("gpu_minors", from.gpu_minors);
  facts.set("nvswitches", from.nvswitches);
  facts.set("nvlink5_switches", from.nvlink5_switches);
  if (from.loaded) {
    Json loaded{{"version", from.loaded->version}, {"modules", from.loaded->modules}};
    if (from.loaded->flavour) loaded["flavour"] = nvidia::to_string(*from.loaded->flavour);
    facts.set("loaded", loaded);
  }
  facts.set("nouveau_loaded", from.nouveau_loaded);
  facts.set("signatures.enforced", from.enforces_signatures);
  if (from.secure_boot) facts.set("signatures.secure_boot", *from.secure_boot);
}

void read_hardware(const Facts& facts, HostFacts& to) {
  to.kernel_view = facts.flag("kernel_view");
  for (const auto& gpu : facts.value("gpus")) to.gpus.push_back(gpu_from_json(gpu));
  for (const auto& minor : facts.value("gpu_minors")) to.gpu_minors.push_back(minor.get<unsigned>());
  to.nvswitches = facts.texts("nvswitches");
  to.nvlink5_switches = facts.flag("nvlink5_switches");
  if (facts.has("loaded"))
    to.loaded = nvidia::LoadedDriver{facts.text("loaded.version"), nvidia::parse_flavour(facts.text("loaded.flavour")),
                                     facts.texts("loaded.modules")};
  to.nouveau_loaded = facts.flag("nouveau_loaded");
  to.enforces_signatures = facts.flag("signatures.enforced");
  if (facts.has("signatures.secure_boot")) to.secure_boot = facts.flag("signatures.secure_boot");
}

}  // namespace

Facts to_facts(const HostFacts& from) {
  Facts facts;
  set_hardware(from, facts);
  facts.set("kernel.release", from.kernel_release);
  if (from.headers) facts.set("kernel.headers", headers_to_json(*from.headers));
  facts.set("kernel.module_compression", from.module_compression);
  facts.set("build.compiler", from.compiler);
  facts.set("build.make", from.has_make);
  facts.set("initramfs.tool", from.initramfs.tool);
  facts.set("initramfs.may_hold_nouveau", from.initramfs.may_hold_nouveau);
  facts.set("root.os", from.os);
  facts.set("root.os_family", from.os_family);
  facts.set("root.lib_folder", from.lib_folder);
  facts.set("root.public_libdir", from.public_libdir);
  facts.set("existing", to_json(from.existing));
  if (from.installed) facts.set("installed", to_json(*from.installed));
  return facts;
}

HostFacts host_facts_from(const Facts& facts) {
  HostFacts to;
  read_hardware(facts, to);
  to.kernel_release = facts.text("kernel.release");
  if (facts.has("kernel.headers")) to.headers = headers_from_json(facts.value("kernel.headers"));
  to.module_compression = facts.text("kernel.module_compression");
  to.compiler = facts.text("build.compiler");
  to.has_make = facts.flag("build.make");
  to.initramfs = {facts.text("initramfs.tool"), facts.flag("initramfs.may_hold_nouveau")};
  to.os = facts.text("root.os");
  to.os_family = facts.text("root.os_family");
  to.lib_folder = facts.text("root.lib_folder");
  to.public_libdir = facts.text("root.public_libdir");
  to.existing = existing_drivers_from_json(facts.value("existing"));
  to.installed = receipt_from_json(facts.value("installed"));
  return to;
}

}  // namespace slipway::driver
