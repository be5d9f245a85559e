// SPDX-License-Identifier: Apache-2.0
#include "driver/coming/coming.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <slipway/text.hpp>

#include "base/kernels/kernels.hpp"
#include "driver/choose/errors.hpp"
#include "driver/coming/apt_lists.hpp"
#include "driver/coming/dnf_lists.hpp"
#include "driver/detect/kernel_config.hpp"
#include "driver/detect/root_layout.hpp"

namespace slipway::driver {
namespace {

constexpr std::string_view kImagePackage = "linux-image-";
constexpr std::string_view kHeaderPackage = "linux-headers-";
constexpr std::string_view kUnsigned = "unsigned-";
constexpr std::size_t kDeepest = 8;  // Ubuntu's longest chain has three metapackages
constexpr std::int64_t kOldSeconds = std::int64_t{7} * 24 * 3600;

bool begins_release(char c) { return c >= '0' && c <= '9'; }

/// Returns "6.1.0-56-amd64" for "linux-image-6.1.0-56-amd64"; empty for a metapackage.
std::string release_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  if (name.starts_with(kUnsigned)) name.remove_prefix(kUnsigned.size());
  return !name.empty() && begins_release(name.front()) ? std::string(name) : std::string();
}

/// Adds the releases of kernels or headers that a package depends on, also by other metapackages. Looks at each
/// metapackage once, since two that name each other many times would take for ever.
void add_releases(const AptLists& lists, const DebPackage& package, std::string_view prefix, std::size_t depth,
                  std::set<std::string>& seen, std::set<std::string>& releases) {
  if (depth > kDeepest || !seen.insert(package.name).second) return;
  for (const std::string& name : package.depends) {
    if (const std::string release = release_in(name, prefix); !release.empty())
      releases.insert(release);
    else if (const Offered* meta = name.starts_with(prefix) && name != package.name ? lists.candidate(name) : nullptr)
      add_releases(lists, meta->package, prefix, depth + 1, seen, releases);
  }
}

bool is_held(const DebPackage& package) { return package.status.starts_with("hold "); }

/// Headers that come, with or without a new version of their metapackage.
std::set<std::string> coming_headers(const AptLists& lists) {
  std::set<std::string> releases;
  for (const auto& [name, package] : lists.installed) {
    if (!name.starts_with(kHeaderPackage)) continue;
    if (const std::string release = release_in(name, kHeaderPackage); !release.empty()) releases.insert(release);
    const Offered* const next = is_held(package) ? nullptr : lists.candidate(name);
    std::set<std::string> metapackages;
    if (next != nullptr) add_releases(lists, next->package, kHeaderPackage, 0, metapackages, releases);
  }
  return releases;
}

void add_of_apt(const AptLists& lists, const std::set<std::string>& present, Coming& coming) {
  const auto headers = coming_headers(lists);
  std::set<std::string> seen = present;
  bool has_meta = false;
  for (const auto& [name, package] : lists.installed) {
    if (!name.starts_with(kImagePackage) || !release_in(name, kImagePackage).empty()) continue;
    has_meta = true;
    const Offered* const next = lists.candidate(name);
    if (next != nullptr && is_held(package))
      coming.notes.push_back(
          fmt::format("{} {} is in the lists, and the package is on hold", name, next->package.version));
    if (next == nullptr || is_held(package)) continue;
    std::set<std::string> releases;
    std::set<std::string> metapackages;
    add_releases(lists, next->package, kImagePackage, 0, metapackages, releases);
    for (const auto& release : releases)
      if (seen.insert(release).second)
        coming.kernels.push_back({.release = release,
                                  .package = name,
                                  .version = next->package.version,
                                  .list = next->list,
                                  .headers = headers.contains(release)});
  }
  if (!has_meta)
    coming.notes.emplace_back(
        "no package that brings new kernels, such as linux-image-amd64 or linux-image-generic, is installed");
}

/// True when this package is the kernel of such a root: one of Oracle's, or the distribution's.
bool is_kernel_of(const std::string& name, const std::set<std::string>& present, bool has_core) {
  const auto is_uek = [](const std::string& release) { return release.find("uek") != std::string::npos; };
  if (name == "kernel-uek-core" || name == "kernel-uek") return std::ranges::any_of(present, is_uek);
  const bool others = present.empty() || !std::ranges::all_of(present, is_uek);
  return others && (name == "kernel-core" || (name == "kernel" && !has_core));
}

void add_of_dnf(const Host& host, const DnfLists& lists, const std::set<std::string>& present, Coming& coming) {
  const auto named = [](const std::string& name) { return [&](const RpmPackage& one) { return one.name == name; }; };
  const bool has_core = std::ranges::any_of(lists.packages, named("kernel-core"));
  std::map<std::string, const RpmPackage*> newest;
  for (const RpmPackage& package : lists.packages) {
    if (!is_kernel_of(package.name, present, has_core)) continue;
    const RpmPackage*& best = newest[package.name];
    if (best == nullptr || is_newer(package, *best)) best = &package;
  }
  const bool has_devel = !host.list("/usr/src/kernels").value_or(std::vector<std::string>{}).empty();
  for (const auto& [name, package] : newest) {
    const std::string release = package->kernel_release();
    const bool is_older = std::ranges::any_of(
        present, [&](const std::string& one) { return base::kernel_key(release) < base::kernel_key(one); });
    if (present.contains(release) || is_older) continue;
    const auto is_its_devel = [&](const RpmPackage& one) {
      return one.name.ends_with("-devel") && one.kernel_release() == release;
    };
    coming.kernels.push_back({.release = release,
                              .package = name,
                              .version = package->version + "-" + package->release,
                              .list = package->list,
                              .headers = has_devel && std::ranges::any_of(lists.packages, is_its_devel)});
  }
}

Error no_lists() {
  return {ErrorCode::not_found,
          "this root has no package lists of apt or dnf, so the kernels that they would install are not known",
          "/var/lib/apt/lists, /var/cache/dnf, /var/cache/libdnf5",
          "run `apt-get update` or `dnf makecache` there; slipway downloads no such lists",
          {}};
}

/// The versions to look for, the best first.
std::vector<std::string> versions_to_try(const Settings& settings, const std::optional<Receipt>& receipt,
                                         const std::vector<Package>& packages) {
  if (receipt) return {receipt->version};
  std::vector<std::string> versions;
  for (const Package& package : packages)
    if (settings.version.allows(package.version)) versions.push_back(package.version);
  base::sort_newest_first(versions);
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

std::vector<nvidia::Flavour> flavours_of(const Settings& settings, const std::optional<Receipt>& receipt) {
  const auto installed = receipt ? nvidia::parse_flavour(receipt->flavour) : std::nullopt;
  if (installed) return {*installed};
  if (settings.modules) return {*settings.modules};
  return {nvidia::Flavour::open, nvidia::Flavour::proprietary};
}

/// @param lacks  what compiling needs and the root does not have; empty: nothing
void take_choice(const Choice& choice, const std::string& lacks, ComingKernel& kernel) {
  const std::string driver = fmt::format("{} {}", choice.package->version, nvidia::to_string(choice.package->flavour));
  if (choice.compile && !lacks.empty()) {
    kernel.text = fmt::format("the source of driver {} could be compiled, but {}", driver, lacks);
    return;
  }
  kernel.modules = choice.compile ? "compile" : "package";
  kernel.driver = driver;
  kernel.manifest = choice.package->digest;
  kernel.text = choice.compile ? "compiled when it is installed, with the headers that come with it" : "";
}

std::string time_text(std::int64_t time) {
  return time == 0 ? "an unknown time" : fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time_t{time}));
}

}  // namespace

bool Coming::has_one_without_modules() const {
  return std::ranges::any_of(kernels, [](const ComingKernel& kernel) { return kernel.modules == "none"; });
}

Result<Coming> read_coming(const Host& host, const ListLimits& limits) {
  Coming coming;
  const auto installed = host.installed_kernels();
  std::set<std::string> present(installed.begin(), installed.end());
  std::vector<std::string> touched;
  if (host.exists("/var/lib/dpkg/status")) {
    coming.manager = "apt";
    SLIPWAY_TRY(lists, read_apt_lists(host, limits));
    if (lists.files.empty()) return no_lists();
    for (const auto& [name, package] : lists.installed)
      if (const std::string release = release_in(name, kImagePackage); !release.empty()) present.insert(release);
    add_of_apt(lists, present, coming);
    coming.notes.insert(coming.notes.end(), lists.problems.begin(), lists.problems.end());
    // apt gives a list the time at which the server changed it; these change with each update.
    touched = {"/var/lib/apt/lists/partial", "/var/lib/apt/periodic/update-success-stamp"};
    touched.insert(touched.end(), lists.files.begin(), lists.files.end());
  } else {
    coming.manager = "dnf";
    SLIPWAY_TRY(lists, read_dnf_lists(host, limits));
    if (lists.files.empty()) return no_lists();
    add_of_dnf(host, lists, present, coming);
    coming.notes = lists.problems;
    touched = lists.files;
  }
  coming.time = newest_change(host, touched);
  std::ranges::sort(coming.kernels, [](const ComingKernel& a, const ComingKernel& b) {
    return base::kernel_key(b.release) < base::kernel_key(a.release);
  });
  return coming;
}

void add_offers(const Settings& settings, const std::optional<Receipt>& receipt, const Catalogue& catalogue,
                const Host& host, Coming& coming) {
  std::vector<std::string> problems;
  const auto packages = packages_of(catalogue, problems);
  for (auto& problem : problems) coming.notes.push_back(std::move(problem) + "; it is left out");
  Wanted wanted;
  wanted.source = catalogue.source;
  wanted.os = os_tag(host);
  wanted.arch = host.arch();
  wanted.flavours = flavours_of(settings, receipt);
  wanted.precompiled = settings.precompiled;
  const auto versions = versions_to_try(settings, receipt, packages);
  const bool has_make = !find_program(host, "make").empty();
  for (ComingKernel& kernel : coming.kernels) {
    kernel.modules = "none";
    kernel.text = fmt::format("{} has no driver that the spec allows", catalogue.source);
    wanted.kernel_release = kernel.release;
    const std::string lacks = !kernel.headers ? "its headers are not installed with it"
                              : !has_make     ? "the root has no make"
                                              : "";
    for (const auto& version : versions) {
      wanted.version = version;
      const auto choice = choose_package(packages, wanted);
      if (choice) take_choice(*choice, lacks, kernel);
      if (kernel.modules != "none") break;
      if (choice || version != versions.front()) continue;
      kernel.text = choice.error().what;
      if (const std::string near = nearest_kernels(packages, wanted); !near.empty())
        kernel.text += "; nearest with a package: " + near;
    }
  }
}

bool is_old(const Coming& coming, std::int64_t now) { return now - coming.time > kOldSeconds; }

void add_coming(const Coming& coming, std::int64_t now, Json& json) {
  Json kernels = Json::array();
  for (const ComingKernel& kernel : coming.kernels) {
    Json one{{"release", kernel.release}, {"package", kernel.package}, {"version", kernel.version},
             {"list", kernel.list},       {"headers", kernel.headers}, {"modules", kernel.modules}};
    if (!kernel.driver.empty()) one.update({{"driver", kernel.driver}, {"manifest", kernel.manifest}});
    if (!kernel.text.empty()) one["text"] = kernel.text;
    kernels.push_back(std::move(one));
  }
  json["coming"] = std::move(kernels);
  json["lists"] = {{"manager", coming.manager}, {"old", is_old(coming, now)}, {"notes", coming.notes}};
  if (coming.time != 0)
    json["lists"]["time"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{coming.time}));
}

std::string to_text(const Coming& coming, std::int64_t now) {
  std::string text = "\n";
  std::size_t width = std::string_view("COMING").size();
  for (const ComingKernel& kernel : coming.kernels) width = std::max(width, kernel.release.size());
  if (!coming.kernels.empty()) text += fmt::format("{:{}}  SOURCE\n", "COMING", width);
  for (const ComingKernel& kernel : coming.kernels) {
    text += fmt::format("{:{}}  {}{}\n", kernel.release, width, kernel.driver.empty() ? "nothing" : kernel.driver,
                        kernel.modules == "compile" ? ", to compile" : "");
    text += fmt::format("    brought by {} {}\n", kernel.package, kernel.version);
    if (!kernel.text.empty()) text += "    " + kernel.text + "\n";
  }
  text +=
      fmt::format("{} would {} next, by its lists of {}.\n", coming.manager,
                  coming.kernels.empty() ? "install no other kernel" : "install these kernels", time_text(coming.time));
  if (is_old(coming, now))
    text += fmt::format("These lists are older than a week: get new ones with `{}`.\n",
                        coming.manager == "apt" ? "apt-get update" : "dnf makecache");
  for (const auto& note : coming.notes) text += "Note: " + note + ".\n";
  return text;
}

}  // namespace slipway::driver
