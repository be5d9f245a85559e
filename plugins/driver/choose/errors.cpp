// SPDX-License-Identifier: Apache-2.0
#include "driver/choose/errors.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/text.hpp>

#include "driver/detect/kernel_release.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kShownNames = 5;
constexpr const char* kVersionKey = "spec.components.driver.version";
constexpr const char* kSourceKey = "spec.components.driver.source";

std::string flavours_text(const std::vector<nvidia::Flavour>& flavours) {
  std::vector<std::string_view> names;
  for (const auto flavour : flavours) names.push_back(nvidia::to_string(flavour));
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string looked_for(const Wanted& wanted) {
  return fmt::format("driver {}, {} modules, kernel {}, {} {}", wanted.version, flavours_text(wanted.flavours),
                     wanted.kernel_release, wanted.os.empty() ? "any system" : wanted.os, wanted.arch);
}

std::string package_target_text(const Package& package) {
  std::string text = fmt::format("{} {}", package.version, nvidia::to_string(package.flavour));
  if (!package.os.empty()) text += " " + package.os;
  if (!package.arch.empty()) text += " " + package.arch;
  return text;
}

std::vector<std::string> kernels_that_fit(const std::vector<Package>& packages, const Wanted& wanted) {
  std::set<std::string> kernels;
  if (wanted.precompiled == Precompiled::never) return {};
  for (const auto& package : packages) {
    const bool fits = package.version == wanted.version && !package.is_source() &&
                      (package.os.empty() || wanted.os.empty() || package.os == wanted.os) &&
                      (package.arch.empty() || package.arch == wanted.arch) &&
                      std::ranges::count(wanted.flavours, package.flavour) != 0;
    if (fits) kernels.insert(package.kernel_release);
  }
  return nearest_first({kernels.begin(), kernels.end()}, wanted.kernel_release);
}

std::vector<Package> of_versions(const std::vector<Package>& packages, const std::vector<std::string>& versions) {
  std::vector<Package> same;
  std::ranges::copy_if(packages, std::back_inserter(same),
                       [&](const auto& package) { return std::ranges::count(versions, package.version) != 0; });
  return same;
}

std::string build_hint(const Wanted& wanted) {
  return fmt::format("build a package for kernel {} (`slipway driver build --help` says how)", wanted.kernel_release);
}

/// A command for another kernel, which need not be installed yet.
std::string other_kernel(const std::string& release) {
  return fmt::format(
      "boot a kernel that has a package: once {0} is installed, `slipway apply --kernel {0}` prepares the driver for "
      "it",
      release);
}

std::string edit_remedies(const std::vector<Package>& packages, const Wanted& wanted, const std::string& first) {
  std::string text = first;
  if (const auto kernels = kernels_that_fit(packages, wanted); !kernels.empty())
    text += (text.empty() ? "" : ", or ") + other_kernel(kernels.front());
  return text + (text.empty() ? "" : ", or ") + build_hint(wanted);
}

}  // namespace

void add_existing_packages(const std::vector<Package>& packages, const Wanted& wanted, Error& error) {
  std::map<std::string, std::vector<std::string>> kernels;
  for (const auto& package : packages) {
    auto& list = kernels[package_target_text(package)];
    if (!package.is_source() && std::ranges::count(list, package.kernel_release) == 0)
      list.push_back(package.kernel_release);
  }
  for (auto& [what, list] : kernels) {
    const std::string text =
        list.empty() ? "source only" : "kernels " + first_few(nearest_first(list, wanted.kernel_release), kShownNames);
    error.details.emplace_back("found", what + ": " + text);
  }
}

std::string nearest_kernels(const std::vector<Package>& packages, const Wanted& wanted) {
  return first_few(kernels_that_fit(packages, wanted), kShownNames);
}

Error nothing_there(const Wanted& wanted) {
  return {ErrorCode::not_found,
          fmt::format("{} holds no driver package", wanted.source),
          kSourceKey,
          fmt::format("`slipway pkg inspect {0}` shows what it holds; {1}", wanted.source,
                      wanted.source.starts_with("oci://")
                          ? fmt::format("make a package (`slipway driver build --help`), then `slipway pkg push LAYOUT "
                                        "--to {}`",
                                        wanted.source)
                          : std::string("`slipway driver build --help` says how one is made")),
          {}};
}

Error several_versions(const Wanted& wanted, const std::vector<std::string>& versions) {
  return {ErrorCode::invalid,
          fmt::format("{} holds several driver versions, and the spec names none", wanted.source),
          kVersionKey,
          fmt::format("write one of them, for example version: \"{}\", or version: latest", versions.back()),
          {{"versions", fmt::format("{}", fmt::join(versions, ", "))}}};
}

Error no_such_version(const std::vector<Package>& packages, const Wanted& wanted,
                      const std::vector<std::string>& versions, const std::vector<std::string>& told) {
  Error error{ErrorCode::not_found,
              fmt::format("{} has no driver {}", wanted.source, wanted.version),
              kVersionKey,
              fmt::format("write version: \"{}\", the nearest existing one, or build a package of {} with "
                          "`slipway driver build`",
                          versions.front(), wanted.version),
              {{"versions", first_few(versions, kShownNames)}}};
  add_existing_packages(of_versions(packages, told), wanted, error);
  return error;
}

Error no_version_fits(const std::vector<Package>& packages, const Wanted& wanted,
                      const std::vector<std::string>& reasons, const std::vector<std::string>& told) {
  Error error{ErrorCode::not_found,
              fmt::format("no driver that version: {} allows fits kernel {}", wanted.version, wanted.kernel_release),
              kVersionKey,
              "allow another version, or " + build_hint(wanted),
              {}};
  for (const auto& reason : reasons) error.details.emplace_back("tried", reason);
  add_existing_packages(of_versions(packages, told), wanted, error);
  return error;
}

Error no_package(const std::vector<Package>& packages, const Wanted& wanted, const Package* source) {
  Error error{ErrorCode::not_found,
              fmt::format("no driver package fits kernel {}", wanted.kernel_release),
              kSourceKey,
              {},
              {{"asked", fmt::format("in {} for {}", wanted.source, looked_for(wanted))}}};
  add_existing_packages(packages, wanted, error);
  if (source != nullptr)
    error.details.emplace_back("found", "a source package of it, but `precompiled: require` forbids compiling it");
  else if (wanted.precompiled == Precompiled::never)
    error.details.emplace_back("found", "no matching source package, which `precompiled: never` requires");
  error.next = edit_remedies(packages, wanted, source != nullptr ? "allow compiling with `precompiled: prefer`" : "");
  return error;
}

Error known_not_to_compile(const std::vector<Package>& packages, const Wanted& wanted, const std::string& failure) {
  Error error{ErrorCode::build_failed,
              fmt::format("driver {} is known not to compile for kernel {}", wanted.version, wanted.kernel_release),
              kSourceKey,
              {},
              {{"asked", fmt::format("in {} for {}", wanted.source, looked_for(wanted))}}};
  if (!failure.empty()) error.details.emplace_back("compiler", failure);
  add_existing_packages(packages, wanted, error);
  error.next = "use a driver version that supports this kernel";
  if (const auto kernels = kernels_that_fit(packages, wanted); !kernels.empty())
    error.next += ", or " + other_kernel(kernels.front());
  return error;
}

}  // namespace slipway::driver
