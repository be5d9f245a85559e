// SPDX-License-Identifier: Apache-2.0
#include "driver/choose/choose.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/choose/errors.hpp"

namespace slipway::driver {
namespace {

bool fits_system(const Package& package, const Wanted& wanted) {
  const auto agrees = [](const std::string& have, const std::string& want) {
    return have.empty() || want.empty() || have == want;
  };
  return agrees(package.arch, wanted.arch) && agrees(package.os, wanted.os);
}

bool fits_machine(const Package& package, const Wanted& wanted) {
  return package.version == wanted.version && fits_system(package, wanted);
}

bool has_modules_for(const Package& package, const std::string& kernel, const Wanted& wanted) {
  if (!package.is_source()) return wanted.precompiled != Precompiled::never && package.kernel_release == kernel;
  return wanted.precompiled != Precompiled::require && !package.known_failure(kernel);
}

const Package* find(const std::vector<Package>& packages, const Wanted& wanted, const std::string& kernel,
                    nvidia::Flavour flavour) {
  const auto found = std::ranges::find_if(packages, [&](const Package& package) {
    return fits_machine(package, wanted) && package.flavour == flavour && package.kernel_release == kernel;
  });
  return found == packages.end() ? nullptr : &*found;
}

// When the root's operating system is unknown, packages for several systems may fit.
void note_unknown_os(const Package& package, const Wanted& wanted, Choice& choice) {
  if (!wanted.os.empty() || package.os.empty()) return;
  choice.notes.push_back(fmt::format("the root's distribution is unknown; using the package for {}", package.os));
}

void note_second_choice(const Package& package, const Wanted& wanted, Choice& choice) {
  if (wanted.flavours.empty() || package.flavour == wanted.flavours.front()) return;
  choice.notes.push_back(fmt::format("modules: {}, since the source has no {} package for this kernel",
                                     nvidia::to_string(package.flavour), nvidia::to_string(wanted.flavours.front())));
}

Choice choice_of(const Package& package, const Wanted& wanted) {
  Choice choice;
  choice.package = &package;
  choice.compile = package.is_source();
  note_unknown_os(package, wanted, choice);
  note_second_choice(package, wanted, choice);
  return choice;
}

Error needs_catalogue(const Wanted& wanted) {
  return {ErrorCode::needs_catalogue,
          fmt::format("the lock has no driver package for kernel {}", wanted.kernel_release),
          wanted.source,
          "let this host reach the source once, so that the lock can be written",
          {}};
}

// An incomplete catalogue cannot show that there is no exact package. Modules that were compiled for this kernel from
// the source package that the lock names stay: this choice was made with the whole catalogue.
bool may_be_elsewhere(const Wanted& wanted, const Package* source) {
  if (wanted.complete || wanted.known_missing || wanted.precompiled == Precompiled::never) return false;
  return source == nullptr || source->digest != wanted.compiled_from;
}

}  // namespace

Result<Choice> choose_package(const std::vector<Package>& packages, const Wanted& wanted) {
  if (wanted.precompiled != Precompiled::never)
    for (const auto flavour : wanted.flavours)
      if (const Package* exact = find(packages, wanted, wanted.kernel_release, flavour))
        return choice_of(*exact, wanted);

  const Package* source = nullptr;
  for (const auto flavour : wanted.flavours)
    if (source == nullptr) source = find(packages, wanted, "", flavour);
  const bool all_is_known = wanted.complete || wanted.known_missing;
  if (may_be_elsewhere(wanted, source) || (source == nullptr && !all_is_known)) return needs_catalogue(wanted);
  if (wanted.precompiled == Precompiled::require || source == nullptr) return no_package(packages, wanted, source);
  if (const auto failure = source->known_failure(wanted.kernel_release))
    return known_not_to_compile(packages, wanted, *failure);
  Choice choice = choice_of(*source, wanted);
  choice.notes.push_back(fmt::format("{} has no package for kernel {}: the modules are compiled from its source",
                                     wanted.source, wanted.kernel_release));
  if (wanted.precompiled == Precompiled::never) choice.notes.back() = "precompiled: never, so the modules are compiled";
  return choice;
}

std::vector<std::string> kernels_with_package(const std::vector<std::string>& kernels,
                                              const std::vector<Package>& packages, const Catalogue& catalogue,
                                              const VersionConstraint& allowed, const Wanted& wanted) {
  std::vector<std::string> with;
  std::ranges::copy_if(kernels, std::back_inserter(with), [&](const std::string& kernel) {
    const bool is_read = std::ranges::any_of(packages, [&](const Package& package) {
      return allowed.allows(package.version) && fits_system(package, wanted) &&
             has_modules_for(package, kernel, wanted);
    });
    // For a package that was not read, the tag has the kernel.
    return is_read || std::ranges::any_of(catalogue.unread, [&](const std::string& tag) {
             return (tag + "-").find("-" + kernel + "-") != std::string::npos;
           });
  });
  return with;
}

}  // namespace slipway::driver
