// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/text.hpp>

#include "driver/fits/fits.hpp"
#include "driver/module/module_info.hpp"
#include "driver/package/package.hpp"
#include "driver/verify/verify.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kModuleLimit = 256U << 20;
constexpr std::size_t kDepLimit = 64U << 20;

std::string shown(const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 4;
  if (list.size() <= kShown) return joined(list, "; ");
  return fmt::format("{}; and {} more", fmt::join(list.begin(), list.begin() + kShown, "; "), list.size() - kShown);
}

// The real file behind a library's name has the driver's version in its name; another version would not match the
// modules.
void check_library(const std::string& name, const Receipt& receipt, const Host& host, std::vector<std::string>& wrong) {
  const std::string path = fmt::format("{}/{}/{}", kUserspaceFolder, receipt.files.libdir, name);
  const auto target = host.resolve(path);
  if (!target) {
    wrong.push_back(fmt::format("{} is missing", path));
    return;
  }
  const auto version = library_version(target->substr(target->rfind('/') + 1));
  if (!version.empty() && version != receipt.version) wrong.push_back(fmt::format("{} is of driver {}", name, version));
}

/// @return  true: it leads to another driver's file, which an apply does not replace
bool check_link(const std::string& path, const Host& host, std::vector<std::string>& wrong) {
  const auto target = host.resolve(path);
  if (!target)
    wrong.push_back(fmt::format("{} leads nowhere", path));
  else if (!is_ours(*target))
    wrong.push_back(fmt::format("{} leads to {}, which is not slipway's", path, *target));
  return target && !is_ours(*target);
}

std::vector<std::string> links_of(const Receipt& receipt, const HostFacts& facts) {
  std::vector<std::string> links;
  for (const auto& tool : receipt.files.tools) links.push_back("/usr/bin/" + tool);
  for (const auto& icd : receipt.files.icds) links.push_back("/etc/OpenCL/vendors/" + icd);
  if (!receipt.libdir.empty())
    for (const auto& name : receipt.files.libraries) links.push_back(receipt.libdir + "/" + name);
  if (receipt.firmware) links.push_back(fmt::format("{}/firmware/nvidia/{}", facts.lib_folder, receipt.version));
  for (const auto& kernel : receipt.kernels())
    links.push_back(fmt::format("{}/modules/{}/updates/slipway", facts.lib_folder, kernel.release));
  return links;
}

/// The modules of one kernel, as they were read.
struct ReadModules {
  std::vector<std::string> wrong;
  std::vector<ModuleRecord> records;
};

void read_module(const std::string& folder, const std::string& name, const std::string& driver_version,
                 const std::string& release, const Host& host, ReadModules& modules) {
  std::vector<std::string>& wrong = modules.wrong;
  const auto bytes = host.read(folder + "/kernel/" + name, kModuleLimit);
  if (!bytes) {
    wrong.push_back(fmt::format("{} cannot be read", name));
    return;
  }
  const auto elf = decompress(*bytes);
  const auto info = elf ? read_module_info(*elf) : Result<base::ModuleInfo>(elf.error());
  if (!info) {
    wrong.push_back(fmt::format("{}: {}", name, info.error().what));
    return;
  }
  const auto value = [&](std::string_view key) {
    const auto found = info->find(key);
    return found == info->end() ? std::string{} : found->second;
  };
  if (const auto made_for = vermagic_release(value("vermagic")); made_for != release)
    wrong.push_back(fmt::format("{} is for kernel {}", name, made_for.empty() ? "unknown" : made_for));
  // Some branches' nvidia-peermem has no version field.
  if (const auto version = value("version"); !version.empty() && version != driver_version)
    wrong.push_back(fmt::format("{} is of driver {}", name, version));
  if (auto record = module_record(name, *elf))
    modules.records.push_back(std::move(*record));
  else
    wrong.push_back(fmt::format("{}: {}", name, record.error().what));
}

/// Adds the finding "driver.fits" from the answers for each kernel.
void add_fits(const std::vector<std::pair<std::string, Fit>>& fits, Findings& findings) {
  std::vector<std::string> wrong;
  std::vector<std::string> right;
  std::string remedy;
  bool compared = false;
  for (const auto& [release, fit] : fits) {
    for (const auto& fault : fit.faults) {
      wrong.push_back(fault.what);
      if (remedy.empty()) remedy = fault.next;
    }
    compared |= fit.compared > 0 || fit.signatures;
    right.push_back(fit.text(release));
  }
  if (!wrong.empty())
    findings.fail("driver.fits", shown(wrong), remedy + "; then run `slipway apply`");
  else if (compared)
    findings.pass("driver.fits", fmt::format("{}", fmt::join(right, "; ")));
  else if (!right.empty())
    findings.not_exercised("driver.fits", fmt::format("{}", fmt::join(right, "; ")));
}

/// Returns "…/modules.dep does not list A, B", or an empty text.
std::string fault_of_depmod(const InstalledKernel& kernel, const Host& host) {
  const std::string file = fmt::format("/lib/modules/{}/modules.dep", kernel.release);
  const auto dep = host.read(file, kDepLimit);
  std::vector<std::string> missing;
  for (const auto& name : kernel.modules)
    if (!dep || dep->find("updates/slipway/" + name + ":") == std::string::npos) missing.push_back(name);
  return missing.empty() ? std::string{} : fmt::format("{} does not list {}", file, shown(missing));
}

void verify_depmod(const Receipt& receipt, const Host& host, Findings& findings) {
  std::vector<std::string> wrong;
  std::vector<std::string> commands;
  for (const auto& kernel : receipt.kernels()) {
    auto fault = fault_of_depmod(kernel, host);
    if (fault.empty()) continue;
    wrong.push_back(std::move(fault));
    const std::string folder = "/lib/modules/" + kernel.release;
    const auto present = host.installed_kernels();
    if (!host.exists(folder) && host.exists("/usr" + folder)) {
      commands.emplace_back(
          "make /lib a link to usr/lib, since depmod and modprobe look for modules only in /lib/modules");
    } else if (std::ranges::count(present, kernel.release) == 0) {
      commands.push_back(
          fmt::format("install kernel {} again, which is gone, or remove it from `kernels` in the spec if "
                      "that names it, and run `slipway apply`",
                      kernel.release));
      continue;
    }
    commands.push_back(fmt::format("run `depmod {}`", kernel.release));
  }
  findings.expect("driver.depmod", wrong.empty(), "modprobe finds the modules of " + receipt.kernels_text(),
                  shown(wrong), fmt::format("{}", fmt::join(commands, ", then ")));
}

}  // namespace

void verify_files(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings) {
  std::vector<std::string> wrong;
  for (const auto& name : receipt.files.libraries) check_library(name, receipt, host, wrong);
  findings.expect("driver.libraries", wrong.empty(),
                  fmt::format("{} libraries of driver {}", receipt.files.libraries.size(), receipt.version),
                  shown(wrong), kApply);
  wrong.clear();
  const auto links = links_of(receipt, facts);
  bool foreign = false;
  for (const auto& link : links) foreign |= check_link(link, host, wrong);
  findings.expect("driver.links", wrong.empty(), fmt::format("{} links lead into the store", links.size()),
                  shown(wrong), foreign ? "delete the links that are not slipway's, then run `slipway apply`" : kApply);
}

void verify_modules(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings) {
  std::vector<std::string> wrong;
  std::vector<std::pair<std::string, Fit>> fits;
  std::size_t count = 0;
  const auto verify_set = [&](const InstalledKernel& kernel, const std::string& folder) {
    ReadModules modules;
    for (const auto& name : kernel.modules) read_module(folder, name, receipt.version, kernel.release, host, modules);
    // If several kernels have modules, each fault names the kernel.
    for (const auto& fault : modules.wrong)
      wrong.push_back(receipt.further.empty() ? fault : fmt::format("kernel {}: {}", kernel.release, fault));
    if (!modules.records.empty())
      fits.emplace_back(kernel.release, fit_of(modules.records, host, kernel.release, facts.keys));
    count += kernel.modules.size();
  };
  for (const auto& kernel : receipt.kernels()) verify_set(kernel, modules_folder(kernel.release));
  for (const auto& kernel : receipt.proprietary) verify_set(kernel, proprietary_modules_folder(kernel.release));
  findings.expect("driver.modules", wrong.empty(),
                  fmt::format("{} modules of driver {} for {}", count, receipt.version, receipt.kernels_text()),
                  shown(wrong), kApply);
  add_fits(fits, findings);
  verify_depmod(receipt, host, findings);
}

}  // namespace slipway::driver
