// SPDX-License-Identifier: Apache-2.0
#include "driver/coming/dnf_lists.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <fnmatch.h>

#include <slipway/text.hpp>

#include "driver/coming/version_order.hpp"

namespace slipway::driver {
namespace {

constexpr std::array kCaches{"/var/cache/dnf", "/var/cache/libdnf5"};
constexpr std::array<std::string_view, 6> kRpmKernels{"kernel-core",  "kernel",           "kernel-uek-core",
                                                      "kernel-devel", "kernel-uek-devel", "kernel-uek"};
constexpr EntryForm kPrimaryForm{"</package>"};
constexpr std::size_t kMostRpmPackages = 20'000;
constexpr std::size_t kLongestWord = 128;

bool is_plain_word(std::string_view word) {
  return !word.empty() && word.size() <= kLongestWord && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '+' || c == '~' || c == '^';
  });
}

/// Returns the text between two marks; empty when they are not there.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const auto at = text.find(begin);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + begin.size());
  const auto stop = text.find(end);
  return stop == std::string_view::npos ? std::string_view{} : text.substr(0, stop);
}

/// The value of a key below a section of an ini file: the last one counts.
std::string ini_value(std::string_view text, std::string_view section, std::string_view key) {
  std::string value;
  bool inside = false;
  for (const std::string_view whole : lines_of<std::string_view>(text)) {
    const std::string_view line = trimmed(whole);
    if (line.starts_with('[')) inside = line.substr(1, line.find(']') - 1) == section;
    const auto equals = line.find('=');
    if (!inside || line.starts_with('#') || equals == std::string_view::npos) continue;
    if (trimmed(line.substr(0, equals)) == key) value = trimmed(line.substr(equals + 1));
  }
  return value;
}

bool is_off(std::string value) {
  std::ranges::transform(value, value.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return value == "0" || value == "no" || value == "false" || value == "off";
}

/// True when a .repo file of the root turns the repository off. Its metadata may still be there.
bool is_disabled(const Host& host, const std::string& repository) {
  constexpr std::string_view kFolder = "/etc/yum.repos.d/";
  for (const auto& name : host.list(kFolder).value_or(std::vector<std::string>{}))
    if (name.ends_with(".repo") &&
        is_off(ini_value(host.read(std::string(kFolder) + name).value_or(""), repository, "enabled")))
      return true;
  return false;
}

std::vector<std::string> excluded_names(const Host& host) {
  std::vector<std::string> globs;
  for (const char* file : {"/etc/dnf/dnf.conf", "/etc/yum.conf"}) {
    const std::string text = host.read(file).value_or("");
    for (const char* key : {"exclude", "excludepkgs"}) {
      std::string value = ini_value(text, "main", key);
      std::ranges::replace(value, ',', ' ');
      for (auto& glob : split<std::string>(value, ' '))
        if (!glob.empty()) globs.push_back(std::move(glob));
    }
  }
  return globs;
}

/// "baseos" of "baseos-0123456789abcdef"
std::string repository_of(const std::string& folder) {
  const auto dash = folder.rfind('-');
  return folder.substr(0, dash);
}

}  // namespace

std::optional<RpmPackage> rpm_package_from(std::string_view entry) {
  const auto begin = entry.rfind("<package ");
  if (begin == std::string_view::npos) return std::nullopt;
  entry.remove_prefix(begin);
  RpmPackage package;
  package.name = between(entry, "<name>", "</name>");
  package.arch = between(entry, "<arch>", "</arch>");
  const std::string_view version = between(entry, "<version ", ">");
  package.epoch = between(version, "epoch=\"", "\"");
  package.version = between(version, "ver=\"", "\"");
  package.release = between(version, "rel=\"", "\"");
  if (package.epoch.empty()) package.epoch = "0";
  for (const std::string* word : {&package.name, &package.arch, &package.epoch, &package.version, &package.release})
    if (!is_plain_word(*word)) return std::nullopt;
  return package;
}

bool is_newer(const RpmPackage& one, const RpmPackage& other) {
  for (const auto part : {&RpmPackage::epoch, &RpmPackage::version, &RpmPackage::release})
    if (const int order = compare_rpm_versions(one.*part, other.*part); order != 0) return order > 0;
  return false;
}

Result<DnfLists> read_dnf_lists(const Host& host, const ListLimits& limits) {
  DnfLists lists;
  const std::string arch = host.arch();
  const auto excluded = excluded_names(host);
  const auto is_excluded = [&](const std::string& name) {
    return std::ranges::any_of(excluded,
                               [&](const std::string& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
  };
  for (const std::string cache : kCaches)
    for (const auto& folder : host.list(cache).value_or(std::vector<std::string>{})) {
      const std::string repodata = cache + "/" + folder + "/repodata";
      const auto names = host.list(repodata).value_or(std::vector<std::string>{});
      if (names.empty() || is_disabled(host, repository_of(folder))) continue;
      for (const auto& name : names) {
        if (name.find("primary.xml") == std::string::npos) continue;
        const std::string file = repodata + "/" + name;
        SLIPWAY_CHECK(read_entries_of(host, file, kPrimaryForm, limits, [&](std::string_view entry) -> Status {
          if (entry.find("<name>kernel") == std::string_view::npos) return {};
          auto package = rpm_package_from(entry);
          if (!package || package->arch != arch || std::ranges::count(kRpmKernels, package->name) == 0) return {};
          if (is_excluded(package->name)) return {};
          if (lists.packages.size() >= kMostRpmPackages)
            return Error{ErrorCode::corrupt,
                         fmt::format("the lists have more than {} kernels", kMostRpmPackages),
                         file,
                         "run `dnf clean metadata` and `dnf makecache`",
                         {}};
          package->list = file;
          lists.packages.push_back(std::move(*package));
          return {};
        }));
        lists.files.push_back(file);
      }
    }
  return lists;
}

}  // namespace slipway::driver
