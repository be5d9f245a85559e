// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/kernel_choice.hpp"

#include <algorithm>

#include "base/kernels/kernels.hpp"

namespace slipway::driver {
namespace {

constexpr const char* kKernelsKey = "spec.components.driver.kernels";

Error no_choice(std::string what) {
  return {ErrorCode::invalid,
          std::move(what),
          kKernelsKey,
          "write all, newest, running, or a list of releases: kernels: [6.1.0-50-amd64]",
          {}};
}

bool is_release(const std::string& text) {
  return !text.empty() && text.front() != '-' && text.front() != '.' && text.find('/') == std::string::npos &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) <= 0x20; });
}

Result<KernelChoice> named(const Json& list) {
  KernelChoice choice{KernelChoice::Which::named, {}};
  for (const Json& item : list) {
    if (!item.is_string() || !is_release(item.get<std::string>()))
      return no_choice("the list names something that is not a kernel release: " + item.dump());
    if (std::ranges::count(choice.releases, item.get<std::string>()) != 0)
      return no_choice("the list names kernel " + item.get<std::string>() + " twice");
    choice.releases.push_back(item);
  }
  if (choice.releases.empty()) return no_choice("the list of kernels is empty");
  return choice;
}

Result<std::vector<std::string>> running_alone(const Host& host) {
  if (std::string release = running_kernel(host); !release.empty()) return std::vector<std::string>{std::move(release)};
  return Error{ErrorCode::unsupported,
               "`kernels: running` means the running kernel, but this root is not running",
               kKernelsKey,
               "write all, newest, or the releases themselves",
               {}};
}

Result<std::vector<std::string>> installed(const Host& host) {
  auto releases = host.installed_kernels();
  if (!releases.empty()) return releases;
  return Error{ErrorCode::not_found,
               "there is no kernel in the root to install the driver's modules for",
               "/lib/modules",
               "install a kernel there, or name its release with --kernel RELEASE",
               {}};
}

Result<std::vector<std::string>> unsorted(const KernelChoice& choice, const Host& host) {
  using Which = KernelChoice::Which;
  if (auto asked = host.asked_kernels(); !asked.empty()) return asked;
  if (choice.which == Which::named) return choice.releases;
  if (choice.which == Which::running) return running_alone(host);
  if (choice.which == Which::all || choice.which == Which::newest) return installed(host);
  SLIPWAY_TRY(target, host.kernel_release());
  return std::vector<std::string>{target};
}

}  // namespace

Result<KernelChoice> kernel_choice_from(const Json& value) {
  using Which = KernelChoice::Which;
  if (value.is_null()) return KernelChoice{};
  if (value.is_array()) return named(value);
  if (value == "all") return KernelChoice{Which::all, {}};
  if (value == "newest") return KernelChoice{Which::newest, {}};
  if (value == "running") return KernelChoice{Which::running, {}};
  return no_choice(value.dump() + " names no kernels");
}

Result<std::vector<std::string>> chosen_kernels(const KernelChoice& choice, const Host& host) {
  SLIPWAY_TRY(releases, unsorted(choice, host));
  base::sort_newest_first(releases);
  if (choice.which == KernelChoice::Which::newest && host.asked_kernels().empty()) releases.resize(1);
  return releases;
}

namespace {

bool lists(const std::vector<std::string>& releases, const std::string& release) {
  return std::ranges::count(releases, release) != 0;
}

std::vector<std::string> receipt_releases(const Receipt& receipt) {
  std::vector<std::string> releases;
  for (const auto& kernel : receipt.kernels()) releases.push_back(kernel.release);
  return releases;
}

Result<KernelSet> after_change(const KernelChange& change, const Receipt& receipt, const Host& host) {
  using Kind = KernelChange::Kind;
  KernelSet set;
  set.follows = true;
  set.followed = receipt_releases(receipt);
  std::erase(set.followed, change.release);
  const auto present = host.installed_kernels();
  for (const auto& release : receipt.without)
    if (release != change.release && lists(present, release)) set.without.push_back(release);
  set.releases = set.followed;
  if (change.kind == Kind::installed) set.releases.push_back(change.release);
  if (change.kind == Kind::without_modules) set.without.push_back(change.release);
  base::sort_newest_first(set.releases);
  base::sort_newest_first(set.without);
  if (!set.releases.empty()) return set;
  return Error{ErrorCode::conflict,
               "kernel " + change.release + " is the only one with modules of the driver, so they stay",
               "/lib/modules",
               "install another kernel, or remove the driver: `slipway remove driver`",
               {}};
}

/// Adds the kernels that earlier changes brought. Kernels that had no package do not become the target.
void add_followed(const Receipt& receipt, const Host& host, KernelSet& set) {
  const auto present = host.installed_kernels();
  std::vector<std::string> without;
  for (auto releases : {receipt_releases(receipt), receipt.without})
    for (auto& release : releases) {
      if (!lists(present, release) || lists(set.releases, release) || lists(set.followed, release)) continue;
      if (lists(receipt.without, release)) without.push_back(release);
      set.followed.push_back(std::move(release));
    }
  for (const auto& release : set.followed)
    if (!lists(without, release)) set.releases.push_back(release);
  base::sort_newest_first(set.releases);
  base::sort_newest_first(without);
  set.releases.insert(set.releases.end(), without.begin(), without.end());
}

}  // namespace

Result<KernelSet> kernels_of_plan(const KernelChoice& choice, const std::optional<Receipt>& installed,
                                  const Host& host) {
  using Which = KernelChoice::Which;
  const auto change = host.kernel_change();
  if (change && installed) return after_change(*change, *installed, host);
  KernelSet set;
  set.follows = installed && installed->follows_kernels;
  const bool adds = set.follows && host.asked_kernels().empty() &&
                    (choice.which == Which::target || choice.which == Which::running || choice.which == Which::named);
  auto chosen = chosen_kernels(choice, host);
  if (chosen) set.releases = *chosen;
  if (adds) add_followed(*installed, host, set);
  if (set.releases.empty()) return chosen.error();
  return set;
}

std::string running_kernel(const Host& host) {
  if (!host.live()) return {};
  if (std::string release = host.attribute("/proc/sys/kernel/osrelease"); !release.empty()) return release;
  return host.asked_kernels().empty() ? host.kernel_release().value_or("") : std::string{};
}

}  // namespace slipway::driver
