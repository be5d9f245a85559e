// SPDX-License-Identifier: Apache-2.0
#include "driver/coming/apt_lists.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fnmatch.h>

#include <slipway/text.hpp>

#include "driver/coming/version_order.hpp"

namespace slipway::driver {
namespace {

constexpr std::string_view kLists = "/var/lib/apt/lists/";
constexpr const char* kStatus = "/var/lib/dpkg/status";
constexpr EntryForm kPackagesForm{"\n\n"};
constexpr int kUsualPriority = 500;
constexpr int kInstalledPriority = 100;
constexpr int kDowngrades = 1000;
constexpr std::size_t kMostDebPackages = 20'000;  // of one name's beginning: Debian has some 100
constexpr std::size_t kLongestPackageName = 200;

std::string debian_arch(std::string_view arch) {
  if (arch == "x86_64") return "amd64";
  if (arch == "aarch64") return "arm64";
  return std::string(arch);
}

bool fits_glob(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// Calls `take` with each field of an entry; further lines of a field are left out.
template <class Take>
void each_field(std::string_view entry, const Take& take) {
  for (const std::string_view line : lines_of<std::string_view>(entry)) {
    const auto colon = line.find(':');
    if (line.empty() || line.front() == ' ' || line.front() == '\t' || colon == std::string_view::npos) continue;
    take(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }
}

/// "linux-image-6.1.0-56-amd64 (= 6.1.192-2), a | b" -> linux-image-6.1.0-56-amd64, a
std::vector<std::string> kernel_names_in(std::string_view depends) {
  std::vector<std::string> names;
  for (const std::string_view one : split<std::string_view>(depends, ',')) {
    const std::string_view word = trimmed(one);
    const std::string name{word.substr(0, word.find_first_of(" :|("))};
    if (is_kernel_package(name)) names.push_back(name);
  }
  return names;
}

/// Returns "…_main_binary-amd64" for "…_main_binary-amd64_Packages.lz4"; nothing for other files.
std::optional<std::string> list_stem(const std::string& name) {
  const auto end = name.rfind("_Packages");
  if (end == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(end + std::string_view("_Packages").size());
  constexpr std::array<std::string_view, 6> kEndings{"", ".lz4", ".xz", ".gz", ".zst", ".bz2"};
  const bool known = std::ranges::any_of(kEndings, [&](std::string_view ending) { return rest == ending; });
  return known ? std::optional(name.substr(0, end)) : std::nullopt;
}

bool is_for_arch(const std::string& stem, const std::string& arch) {
  constexpr std::string_view kBinary = "_binary-";
  const auto at = stem.rfind(kBinary);
  if (at == std::string::npos) return true;  // of a repository without such folders
  const std::string of = stem.substr(at + kBinary.size());
  return of == arch || of == "all";
}

/// Returns the text of the Release file of a list: its name is the beginning of the list's.
std::string release_text(const Host& host, std::string stem) {
  while (!stem.empty()) {
    for (const char* ending : {"_InRelease", "_Release"})
      if (auto text = host.read(std::string(kLists) + stem + ending)) return *text;
    const auto cut = stem.rfind('_');
    stem.resize(cut == std::string::npos ? 0 : cut);
  }
  return {};
}

std::vector<AptPin> read_pins(const Host& host, std::vector<std::string>& problems) {
  std::vector<std::string> files{"/etc/apt/preferences"};
  for (const auto& name : host.list("/etc/apt/preferences.d").value_or(std::vector<std::string>{}))
    if (name.ends_with(".pref") || name.find('.') == std::string::npos)
      files.push_back("/etc/apt/preferences.d/" + name);
  std::vector<AptPin> pins;
  for (const auto& file : files)
    for (auto& pin : apt_pins_from(host.read(file).value_or(""), file, problems)) pins.push_back(std::move(pin));
  return pins;
}

/// The first pin that names the package counts, and else the first for all packages.
int priority_of(const DebPackage& package, const ListOrigin& origin, const std::vector<AptPin>& pins) {
  for (const bool general : {false, true})
    for (const AptPin& pin : pins)
      if (general == (pin.names == std::vector<std::string>{"*"}) && pin.fits(package, origin)) return pin.priority;
  return origin.priority();
}

Status add_list(const Host& host, const std::string& file, const ListOrigin& origin, const std::vector<AptPin>& pins,
                const ListLimits& limits, AptLists& lists) {
  const std::string arch = debian_arch(host.arch());
  std::size_t count = 0;
  for (const auto& [name, versions] : lists.offered) count += versions.size();
  return read_entries_of(host, file, kPackagesForm, limits, [&](std::string_view entry) -> Status {
    if (entry.starts_with('\n')) entry.remove_prefix(1);
    if (entry.find("Package: linux-") == std::string_view::npos) return {};
    DebPackage package = deb_package_from(entry);
    if (!is_kernel_package(package.name) || package.version.empty()) return {};
    if (package.arch != arch && package.arch != "all") return {};
    if (++count > kMostDebPackages)
      return Error{ErrorCode::corrupt,
                   fmt::format("the package lists have more than {} kernels", kMostDebPackages),
                   file,
                   "remove this list, and run `apt-get update`",
                   {}};
    const int priority = priority_of(package, origin, pins);
    lists.offered[package.name].push_back({std::move(package), file, priority});
    return {};
  });
}

Status read_status(const Host& host, const ListLimits& limits, AptLists& lists) {
  return read_entries_of(host, kStatus, kPackagesForm, limits, [&](std::string_view entry) -> Status {
    if (entry.find("Package: linux-") == std::string_view::npos) return {};
    DebPackage package = deb_package_from(entry);
    if (is_kernel_package(package.name) && package.status.ends_with(" installed"))
      lists.installed[package.name] = std::move(package);
    return {};
  });
}

}  // namespace

DebPackage deb_package_from(std::string_view entry) {
  DebPackage package;
  each_field(entry, [&](std::string_view name, std::string_view value) {
    if (name == "Package" && value.size() <= kLongestPackageName) package.name = value;
    if (name == "Version" && value.size() <= kLongestPackageName) package.version = value;
    if (name == "Architecture") package.arch = value.substr(0, kLongestPackageName);
    if (name == "Status") package.status = value.substr(0, kLongestPackageName);
    if (name == "Depends" || name == "Pre-Depends")
      for (auto& one : kernel_names_in(value)) package.depends.push_back(std::move(one));
  });
  return package;
}

bool is_kernel_package(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == '~';
  };
  return (name.starts_with("linux-image-") || name.starts_with("linux-headers-")) &&
         name.size() <= kLongestPackageName && std::ranges::all_of(name, fits);
}

int ListOrigin::priority() const {
  if (!not_automatic) return kUsualPriority;
  return but_automatic_upgrades ? kInstalledPriority : 1;
}

ListOrigin list_origin_from(std::string_view release, std::string_view list_name) {
  ListOrigin origin;
  origin.host = list_name.substr(0, list_name.find('_'));
  // Behind "-----BEGIN PGP SIGNED MESSAGE-----" come a header and an empty line; the checksums are further lines.
  each_field(release, [&](std::string_view name, std::string_view value) {
    constexpr std::pair<std::string_view, const char*> kFields[] = {
        {"Suite", "a"}, {"Codename", "n"}, {"Origin", "o"}, {"Label", "l"}, {"Version", "v"}};
    for (const auto& [field, key] : kFields)
      if (name == field) origin.fields.emplace(key, value);
    if (name == "NotAutomatic") origin.not_automatic = value == "yes";
    if (name == "ButAutomaticUpgrades") origin.but_automatic_upgrades = value == "yes";
  });
  const auto binary = list_name.rfind("_binary-");
  if (binary != std::string_view::npos) {
    const auto before = list_name.substr(0, binary);
    origin.fields["c"] = before.substr(before.rfind('_') + 1);
  }
  return origin;
}

bool AptPin::fits(const DebPackage& package, const ListOrigin& origin) const {
  if (std::ranges::none_of(names, [&](const std::string& name) { return fits_glob(name, package.name); })) return false;
  if (kind == "version") return fits_glob(pattern, package.version);
  if (kind == "origin") return pattern == origin.host || pattern == "*";
  for (const std::string& condition : split_list(pattern)) {
    const auto equals = condition.find('=');
    const auto field = origin.fields.find(condition.substr(0, equals));
    if (field == origin.fields.end() || !fits_glob(condition.substr(equals + 1), field->second)) return false;
  }
  return true;
}

std::vector<AptPin> apt_pins_from(std::string_view text, const std::string& file, std::vector<std::string>& problems) {
  std::vector<AptPin> pins;
  AptPin pin;
  bool simple = true;
  bool has_priority = false;
  const auto finish = [&] {
    const bool is_empty = pin.names.empty() && pin.kind.empty();
    simple = simple && has_priority && !pin.names.empty() &&
             (pin.kind == "version" || pin.kind == "origin" || pin.kind == "release");
    for (const std::string& condition : pin.kind == "release" ? split_list(pin.pattern) : std::vector<std::string>{})
      simple = simple && condition.size() > 2 && condition[1] == '=';
    if (!is_empty && simple)
      pins.push_back(pin);
    else if (!is_empty)
      problems.push_back(fmt::format("a pin in {} is not followed: {}", file, joined(pin.names, " ")));
    pin = {};
    simple = true;
    has_priority = false;
  };
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    if (trimmed(line).empty()) finish();
    each_field(line.starts_with('#') ? std::string_view{} : line, [&](std::string_view name, std::string_view value) {
      if (name == "Package") {
        for (auto& one : split<std::string>(value, ' '))
          if (!one.empty()) pin.names.push_back(std::move(one));
        simple = simple && value.find_first_of("/:") == std::string_view::npos;
      } else if (name == "Pin") {
        const auto blank = std::min(value.find_first_of(" \t"), value.size());
        pin.kind = value.substr(0, blank);
        pin.pattern = trimmed(value.substr(blank));
        if (pin.pattern.size() > 1 && pin.pattern.front() == '"' && pin.pattern.back() == '"')
          pin.pattern = pin.pattern.substr(1, pin.pattern.size() - 2);
        if (pin.pattern.starts_with('/')) simple = false;
      } else if (name == "Pin-Priority") {
        const auto end = std::from_chars(value.data(), value.data() + value.size(), pin.priority);
        has_priority = end.ec == std::errc{} && pin.priority != 0;
      }
    });
  }
  finish();
  return pins;
}

const Offered* AptLists::candidate(const std::string& name) const {
  const auto versions = offered.find(name);
  if (versions == offered.end()) return nullptr;
  const auto now = installed.find(name);
  const std::string have = now == installed.end() ? "" : now->second.version;
  const Offered* best = nullptr;
  int best_priority = 0;
  for (const Offered& one : versions->second) {
    const int order = have.empty() ? 1 : compare_deb_versions(one.package.version, have);
    if (one.priority < 0 || (order < 0 && one.priority < kDowngrades)) continue;
    const int priority = order == 0 ? std::max(one.priority, kInstalledPriority) : one.priority;
    const bool better =
        best == nullptr || priority > best_priority ||
        (priority == best_priority && compare_deb_versions(one.package.version, best->package.version) > 0);
    if (!better) continue;
    best = &one;
    best_priority = priority;
  }
  // The installed version may be in no list.
  if (!have.empty() && best_priority < kInstalledPriority) return nullptr;
  return best != nullptr && best->package.version == have ? nullptr : best;
}

Result<AptLists> read_apt_lists(const Host& host, const ListLimits& limits) {
  AptLists lists;
  SLIPWAY_CHECK(read_status(host, limits, lists));
  const auto pins = read_pins(host, lists.problems);
  const std::string arch = debian_arch(host.arch());
  for (const auto& name : host.list(kLists).value_or(std::vector<std::string>{})) {
    const auto stem = list_stem(name);
    if (!stem || !is_for_arch(*stem, arch)) continue;
    const std::string file = std::string(kLists) + name;
    SLIPWAY_CHECK(add_list(host, file, list_origin_from(release_text(host, *stem), name), pins, limits, lists));
    lists.files.push_back(file);
  }
  return lists;
}

}  // namespace slipway::driver
