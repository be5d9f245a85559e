// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/diagnose.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/detect/kernel_driver.hpp"
#include "nvidia/machine/causes.hpp"
#include "nvidia/proc_files.hpp"

namespace slipway::driver {
namespace {

// Returns the library that programs find first under that name; the file behind the link has the version in its name.
std::string public_library(const HostFacts& facts, const Host& host, const char* name) {
  for (const std::string& folder :
       {facts.public_libdir, std::string("/usr/lib/x86_64-linux-gnu"), std::string("/usr/lib/aarch64-linux-gnu"),
        std::string("/usr/lib64"), std::string("/usr/lib")}) {
    if (folder.empty()) continue;
    if (auto target = host.resolve(folder + "/" + name)) return *target;
  }
  return {};
}

bool has_module(const HostFacts& facts, std::string_view name) {
  return facts.loaded && std::ranges::count(facts.loaded->modules, name) > 0;
}

void diagnose_nouveau(const HostFacts& facts, Findings& findings) {
  if (facts.kernel_drivers.empty()) return;
  std::vector<std::string> bound;
  for (const auto& gpu : facts.gpus)
    if (is_kernel_driver(gpu.driver)) bound.push_back(gpu.address);
  const std::string does = bound.empty() ? "is loaded" : fmt::format("holds {}", fmt::join(bound, ", "));
  findings.fail("driver.nouveau",
                fmt::format("the kernel's own driver ({}) {}, so NVIDIA's cannot start", facts.kernel_drivers, does),
                "run `slipway apply`, which blacklists that driver in the initramfs too, then reboot");
}

void check_uvm_node(const std::string& path, unsigned major, unsigned minor, const Host& host,
                    std::vector<std::string>& wrong) {
  const auto info = host.info(path);
  if (!info)
    wrong.push_back(path + " is missing");
  else if (info->type == FileInfo::Type::character_device &&
           (info->device_major != major || info->device_minor != minor))
    wrong.push_back(
        fmt::format("{} is {}:{} and should be {}:{}", path, info->device_major, info->device_minor, major, minor));
}

void diagnose_uvm(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!facts.loaded) return;
  constexpr const char* kNext =
      "run `slipway apply`; until then CUDA fails with error 999 or 304, and containers do not get these devices";
  const auto major = host.character_major("nvidia-uvm");
  if (!has_module(facts, "nvidia-uvm") || !major)
    return findings.fail("driver.uvm-nodes", "nvidia is loaded and nvidia-uvm is not, so CUDA cannot start", kNext);
  std::vector<std::string> wrong;
  check_uvm_node("/dev/nvidia-uvm", *major, 0, host, wrong);
  check_uvm_node("/dev/nvidia-uvm-tools", *major, 1, host, wrong);
  if (!wrong.empty()) findings.fail("driver.uvm-nodes", fmt::format("{}", fmt::join(wrong, "; ")), kNext);
}

void diagnose_modprobe(const HostFacts& facts, Findings& findings) {
  if (!facts.installed) return;
  const auto lines = lines_that_prevent_loading(facts, {"nvidia", "nvidia-uvm", "nvidia-modeset"});
  if (!lines.empty())
    findings.fail("driver.modprobe", fmt::format("modules cannot be loaded: {}", fmt::join(lines, "; ")), kDeleteLines);
}

}  // namespace

std::vector<std::string> lines_that_prevent_loading(const HostFacts& facts, const std::vector<std::string>& modules) {
  std::vector<std::string> lines;
  for (const auto& line : facts.modprobe)
    if (line.prevents_loading() && std::ranges::count(modules, line.module) != 0)
      lines.push_back(fmt::format("{}: '{}'", line.where, line.text()));
  return lines;
}

std::string other_driver_remedy(const HostFacts& facts) {
  const bool is_replaced = facts.installed && facts.loaded && facts.installed->version != facts.loaded->version;
  return is_replaced ? "run `slipway apply`, which replaces the loaded driver when no process uses it, or reboot"
                     : "reboot, so that the module of the installed driver is loaded; keep other installers from "
                       "updating it";
}

void check_versions(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!facts.loaded) return;
  std::vector<std::string> wrong;
  for (const char* name : {"libnvidia-ml.so.1", "libcuda.so.1"}) {
    const std::string path = public_library(facts, host, name);
    const std::string version = library_version(path.substr(path.rfind('/') + 1));
    if (!version.empty() && version != facts.loaded->version) wrong.push_back(fmt::format("{} is {}", path, version));
  }
  if (wrong.empty()) return;
  findings.fail("driver.versions",
                fmt::format("the loaded module is of driver {}, and {}: programs say `Driver/library version mismatch`",
                            facts.loaded->version, fmt::join(wrong, ", ")),
                other_driver_remedy(facts), nvidia::kDriverCause);
}

void check_fabric_manager(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!facts.loaded && !facts.installed) return;
  const std::string& version = facts.loaded ? facts.loaded->version : facts.installed->version;
  const bool known = !facts.fabric_manager || !facts.fabric_manager->version.empty();
  if (const auto fault = fabric_manager_fault(facts, version); !fault.empty() && known)
    findings.add({host.live() ? Finding::Status::fail : Finding::Status::warning, "driver.fabric-manager", fault,
                  fabric_manager_remedy(version), "machine/fabric-manager"});
}

void diagnose_running(const HostFacts& facts, const Host& host, Findings& findings) {
  if (!host.live()) return;  // a simulated or offline kernel runs nothing
  diagnose_nouveau(facts, findings);
  check_versions(facts, host, findings);
  diagnose_uvm(facts, host, findings);
}

Findings diagnose_driver(const HostFacts& facts, const Host& host) {
  Findings findings;
  if (!facts.gpu_table_problem.is_null()) {
    const Error problem = error_from_json(facts.gpu_table_problem);
    findings.fail("driver.gpu-table", fmt::format("{}: {}; every plan fails", problem.where, problem.what),
                  problem.next);
  }
  diagnose_kernels(facts, host, findings);
  diagnose_other_drivers(facts, host, findings);
  diagnose_modprobe(facts, findings);
  check_fabric_manager(facts, host, findings);
  diagnose_running(facts, host, findings);
  diagnose_log(facts, host, findings);
  return findings;
}

}  // namespace slipway::driver
