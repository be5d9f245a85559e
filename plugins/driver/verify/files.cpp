// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/detect/module_info.hpp"
#include "driver/package/package.hpp"
#include "driver/verify/verify.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kModuleLimit = 256U << 20;
constexpr std::size_t kDepLimit = 64U << 20;

std::string shown(const std::vector<std::string>& list) {
  constexpr std::size_t kShown = 4;
  if (list.size() <= kShown) return fmt::format("{}", fmt::join(list, "; "));
  return fmt::format("{}; and {} more", fmt::join(list.begin(), list.begin() + kShown, "; "), list.size() - kShown);
}

// The file that a library's name stands for carries the driver's version; another one would not match the modules.
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

void check_link(const std::string& path, const Host& host, std::vector<std::string>& wrong) {
  const auto target = host.resolve(path);
  if (!target)
    wrong.push_back(fmt::format("{} leads nowhere", path));
  else if (!is_ours(*target))
    wrong.push_back(fmt::format("{} leads to {}, which is not slipway's", path, *target));
}

std::vector<std::string> links_of(const Receipt& receipt, const HostFacts& facts) {
  std::vector<std::string> links;
  for (const auto& tool : receipt.files.tools) links.push_back("/usr/bin/" + tool);
  for (const auto& icd : receipt.files.icds) links.push_back("/etc/OpenCL/vendors/" + icd);
  if (!receipt.libdir.empty())
    for (const auto& name : receipt.files.libraries) links.push_back(receipt.libdir + "/" + name);
  if (receipt.firmware) links.push_back(fmt::format("{}/firmware/nvidia/{}", facts.lib_folder, receipt.version));
  links.push_back(fmt::format("{}/modules/{}/updates/slipway", facts.lib_folder, receipt.kernel_release));
  return links;
}

void check_module(const std::string& name, const Receipt& receipt, const Host& host, std::vector<std::string>& wrong) {
  const auto bytes = host.read(modules_folder(receipt.kernel_release) + "/kernel/" + name, kModuleLimit);
  if (!bytes) {
    wrong.push_back(fmt::format("{} cannot be read", name));
    return;
  }
  const auto info = read_module_info(*bytes);
  if (!info) {
    wrong.push_back(fmt::format("{}: {}", name, info.error().what));
    return;
  }
  const auto value = [&](std::string_view key) {
    const auto found = info->find(key);
    return found == info->end() ? std::string{} : found->second;
  };
  if (const auto release = vermagic_release(value("vermagic")); release != receipt.kernel_release)
    wrong.push_back(fmt::format("{} is for kernel {}", name, release.empty() ? "unknown" : release));
  // nvidia-peermem of some branches has no version field.
  if (const auto version = value("version"); !version.empty() && version != receipt.version)
    wrong.push_back(fmt::format("{} is of driver {}", name, version));
}

void verify_depmod(const Receipt& receipt, const Host& host, Findings& findings) {
  const std::string file = fmt::format("/lib/modules/{}/modules.dep", receipt.kernel_release);
  const auto dep = host.read(file, kDepLimit);
  std::vector<std::string> missing;
  for (const auto& name : receipt.modules)
    if (!dep || dep->find("updates/slipway/" + name + ":") == std::string::npos) missing.push_back(name);
  if (missing.empty())
    findings.pass("driver.depmod", fmt::format("modprobe finds the modules of kernel {}", receipt.kernel_release));
  else
    findings.fail("driver.depmod", fmt::format("{} does not list {}", file, shown(missing)),
                  fmt::format("run `depmod {}`", receipt.kernel_release));
}

}  // namespace

void verify_files(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings) {
  std::vector<std::string> wrong;
  for (const auto& name : receipt.files.libraries) check_library(name, receipt, host, wrong);
  if (wrong.empty())
    findings.pass("driver.libraries",
                  fmt::format("{} libraries of driver {}", receipt.files.libraries.size(), receipt.version));
  else
    findings.fail("driver.libraries", shown(wrong), kApply);
  wrong.clear();
  const auto links = links_of(receipt, facts);
  for (const auto& link : links) check_link(link, host, wrong);
  if (wrong.empty())
    findings.pass("driver.links", fmt::format("{} links lead into the store", links.size()));
  else
    findings.fail("driver.links", shown(wrong), kApply);
}

void verify_modules(const Receipt& receipt, const HostFacts&, const Host& host, Findings& findings) {
  std::vector<std::string> wrong;
  for (const auto& name : receipt.modules) check_module(name, receipt, host, wrong);
  if (wrong.empty())
    findings.pass("driver.modules", fmt::format("{} modules of driver {} for kernel {}", receipt.modules.size(),
                                                receipt.version, receipt.kernel_release));
  else
    findings.fail("driver.modules", shown(wrong), kApply);
  verify_depmod(receipt, host, findings);
}

}  // namespace slipway::driver
