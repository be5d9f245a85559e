// SPDX-License-Identifier: Apache-2.0
#include "driver/build/deb_set.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/build/confined_deb.hpp"

namespace slipway::driver {
namespace {

namespace fs = std::filesystem;

// The packages for computing; names that start with one of these are taken too (libnvidia-nvvm4, libnvidia-nvvm704).
constexpr std::string_view kLibraries[] = {"libcuda1",
                                           "libcudadebugger1",
                                           "libnvidia-allocator1",
                                           "libnvidia-cfg1",
                                           "libnvidia-encode1",
                                           "libnvidia-gpucomp",
                                           "libnvidia-ml1",
                                           "libnvidia-nvvm",
                                           "libnvidia-opticalflow1",
                                           "libnvidia-pkcs11",
                                           "libnvidia-ptxjitcompiler1",
                                           "libnvidia-sandboxutils",
                                           "libnvcuvid1",
                                           "nvidia-opencl-common",
                                           "nvidia-opencl-icd",
                                           "nvidia-smi",
                                           "nvidia-cuda-mps"};
// Nothing works without these, so a missing one is an error.
constexpr std::string_view kNeeded[] = {"libcuda1", "libnvidia-ml1", "libnvidia-ptxjitcompiler1", "nvidia-smi"};
constexpr const char* kHeaders = "linux-headers-";

std::string_view source_package(nvidia::Flavour flavour) {
  return flavour == nvidia::Flavour::open ? "nvidia-open-kernel-dkms" : "nvidia-kernel-dkms";
}

bool is_userspace(const std::string& name) {
  return std::ranges::any_of(kLibraries, [&](std::string_view library) { return name.starts_with(library); });
}

Error missing(const std::string& package, const std::string& where) {
  return {ErrorCode::not_found,
          fmt::format("the package {} is missing among the .deb files", package),
          where,
          fmt::format("put that package there: `apt-get download {}`", package),
          {}};
}

Status check_needed(const DriverDebs& driver, nvidia::Flavour flavour, const std::string& folder) {
  if (driver.source.empty()) return missing(std::string{source_package(flavour)}, folder);
  for (const auto name : kNeeded)
    if (std::ranges::find(driver.userspace, name, &DebInfo::package) == driver.userspace.end())
      return missing(std::string{name}, folder);
  // The open modules do not work without the GSP's firmware.
  if (flavour == nvidia::Flavour::open && driver.firmware.empty()) return missing("firmware-nvidia-gsp", folder);
  return {};
}

Status check_versions(const DriverDebs& driver, const std::string& folder) {
  std::set<std::string> versions;
  Error error{ErrorCode::conflict,
              {},
              folder,
              "keep the packages of one version there: modules, firmware and libraries must agree to the last digit",
              {}};
  for (const auto* list : {&driver.source, &driver.firmware, &driver.userspace})
    for (const auto& deb : *list)
      if (versions.insert(deb.upstream_version()).second)
        error.details.emplace_back("found", fmt::format("{} {}", deb.package, deb.version));
  if (versions.size() <= 1) return {};
  error.what = fmt::format("the driver's packages are of several versions: {}", fmt::join(versions, ", "));
  return error;
}

// `apt-get download libcuda1 libcuda1:arm64` mixes libraries for several processors in one folder; this rejects them.
Status check_architectures(const DriverDebs& driver, const std::string& folder) {
  std::set<std::string> architectures;
  Error error{ErrorCode::conflict, {}, folder, "keep the packages of one architecture there", {}};
  for (const auto* list : {&driver.source, &driver.firmware, &driver.userspace})
    for (const auto& deb : *list)
      if (deb.architecture != kAnyMachine && architectures.insert(deb.architecture).second)
        error.details.emplace_back("found", fmt::format("{} {}", deb.package, deb.architecture));
  if (architectures.size() <= 1) return {};
  error.what = fmt::format("the driver's packages are for several processors: {}", fmt::join(architectures, ", "));
  return error;
}

// Returns the version of a package that fits `like`, else the newest file by name. A package for a machine other than
// `architecture` does not fit.
const DebInfo* find_deb(const std::vector<DebInfo>& debs, const std::string& package, const std::string& like,
                        const std::string& architecture) {
  const DebInfo* best = nullptr;
  for (const auto& deb : debs) {
    if (deb.package != package) continue;
    if (!architecture.empty() && deb.architecture != architecture && deb.architecture != kAnyMachine) continue;
    if (deb.version == like) return &deb;
    best = &deb;
  }
  return best;
}

Error other_version(const DebInfo& headers, const DebInfo& needed, const std::string& wanted) {
  return {ErrorCode::conflict,
          fmt::format("{} {} needs {} {}, but the folder has {} {}", headers.package, headers.version, needed.package,
                      wanted, needed.package, needed.version),
          needed.file,
          fmt::format("put that version there: `apt-get download {}={}`", needed.package, wanted),
          {}};
}

Error no_headers(const std::vector<DebInfo>& debs, const std::string& release) {
  Error error = missing(kHeaders + release, debs.empty() ? "" : fs::path(debs.front().file).parent_path().string());
  std::vector<std::string> existing;
  for (const auto& deb : debs)
    if (deb.package.starts_with(kHeaders) && !deb.package.ends_with("-common"))
      existing.push_back(deb.package.substr(std::string_view(kHeaders).size()));
  if (!existing.empty()) error.details.emplace_back("found", fmt::format("headers of {}", fmt::join(existing, ", ")));
  error.next += ", or name a tree of headers: --headers DIR";
  return error;
}

}  // namespace

std::string machine_of(const std::string& debian_architecture) {
  if (debian_architecture == "amd64") return "x86_64";
  if (debian_architecture == "arm64") return "aarch64";
  return debian_architecture;
}

Result<std::vector<DebInfo>> list_debs(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> files;
  for (const auto& file : fs::directory_iterator(folder, code))
    if (file.path().extension() == ".deb") files.push_back(file.path().string());
  if (code) return system_error("open", folder, code.value());
  if (files.empty())
    return Error{
        ErrorCode::not_found, "there is no .deb file in the folder", folder, "name another one with --debs DIR", {}};
  std::ranges::sort(files);
  std::vector<DebInfo> debs;
  for (const auto& file : files) {
    SLIPWAY_TRY(info, read_deb_info_confined(file));
    debs.push_back(std::move(info));
  }
  return debs;
}

Result<DriverDebs> choose_driver_debs(const std::vector<DebInfo>& debs, nvidia::Flavour flavour) {
  DriverDebs driver;
  for (const auto& deb : debs) {
    if (deb.package == source_package(flavour)) driver.source.push_back(deb);
    if (deb.package == "firmware-nvidia-gsp") driver.firmware.push_back(deb);
    if (is_userspace(deb.package)) driver.userspace.push_back(deb);
  }
  const std::string folder = debs.empty() ? "" : fs::path(debs.front().file).parent_path().string();
  SLIPWAY_CHECK(check_needed(driver, flavour, folder));
  SLIPWAY_CHECK(check_versions(driver, folder));
  SLIPWAY_CHECK(check_architectures(driver, folder));
  driver.version = driver.source.front().upstream_version();
  const auto bound = [](const DebInfo& deb) { return deb.architecture != kAnyMachine; };
  const auto first = std::ranges::find_if(driver.userspace, bound);
  driver.architecture = first == driver.userspace.end() ? std::string(kAnyMachine) : first->architecture;
  return driver;
}

Result<std::vector<DebInfo>> choose_header_debs(const std::vector<DebInfo>& debs, const std::string& kernel_release) {
  const DebInfo* headers = find_deb(debs, kHeaders + kernel_release, "", "");
  if (headers == nullptr) return no_headers(debs, kernel_release);
  std::vector<DebInfo> chosen{*headers};
  for (const auto& name : headers->depends) {
    if (!name.starts_with("linux-")) continue;
    const DebInfo* needed = find_deb(debs, name, headers->version, headers->architecture);
    if (needed == nullptr) return missing(name, fs::path(headers->file).parent_path().string());
    const auto exact = headers->exactly.find(name);
    if (exact != headers->exactly.end() && exact->second != needed->version)
      return other_version(*headers, *needed, exact->second);
    chosen.push_back(*needed);
  }
  return chosen;
}

}  // namespace slipway::driver
