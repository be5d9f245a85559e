// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/libraries.hpp"

#include <algorithm>
#include <utility>

#include <fnmatch.h>

#include "nvidia/ld_cache.hpp"
#include "nvidia/library_folders.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::string_view kStore = "/usr/lib/slipway/store/";

/// Public libraries that come with the driver or from other packages, with their own versions.
constexpr const char* kExplicit[] = {
    "libEGL",    "libGL",         "libGLESv1_CM",      "libGLESv2",         "libGLX", "libGLdispatch", "libOpenCL",
    "libOpenGL", "libnvidia-api", "libnvidia-egl-xcb", "libnvidia-egl-xlib"};

Error no_libcuda(const std::string& wanted, const std::string& other) {
  if (other.empty())
    return Error{ErrorCode::not_found,
                 "libcuda.so." + wanted + " is missing: the driver's libraries are not installed",
                 "libcuda.so." + wanted,
                 "install the driver (`slipway apply` with the component driver), or name its root: --driver-root DIR",
                 {}};
  return Error{ErrorCode::conflict,
               "the driver is half upgraded: its libraries are " + other + ", the loaded kernel module is " + wanted,
               "libcuda.so." + other,
               "reboot, or load the modules of " + other + " once no process uses a GPU",
               {}};
}

std::vector<std::string> usual_folders() {
  std::vector<std::string> folders(nvidia::kLibraryFolders.begin(), nvidia::kLibraryFolders.end());
  // Public folders have links of these only under their sonames.
  for (const char* arch : {"x86_64", "aarch64"})
    folders.push_back(std::string(nvidia::kStoreRoot) + "/usr/lib/" + arch + "-linux-gnu");
  return folders;
}

/// Returns the existing folders, without those that link to another one, as /lib to /usr/lib on most machines.
std::vector<std::string> once_each(const Host& host, const std::vector<std::string>& folders) {
  std::vector<std::string> kept;
  std::vector<std::string> seen;
  for (const std::string& folder : folders) {
    const auto real = host.resolve(folder);
    if (!real || std::ranges::find(seen, *real) != seen.end()) continue;
    seen.push_back(*real);
    kept.push_back(folder);
  }
  return kept;
}

bool fits(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

/// Returns the common beginning of all names that match the pattern, up to ".so".
std::string literal_start(const std::string& pattern) {
  return pattern.substr(0, std::min(pattern.find_first_of("*?[\\"), pattern.find(".so")));
}

/// Returns the target of a link, one step; empty when it is not a link.
std::string next_link(const Host& host, const std::string& path) {
  const auto target = host.read_link(path);
  if (!target) return {};
  return target->starts_with('/') ? *target : folder_of(path) + "/" + *target;
}

/// Returns the targets of the path and then of each link.
std::vector<std::string> links_from(const Host& host, const std::string& path) {
  constexpr std::size_t kMostLinks = 16;
  std::vector<std::string> links;
  for (std::string link = next_link(host, path); !link.empty() && links.size() < kMostLinks;
       link = next_link(host, link))
    links.push_back(link);
  return links;
}

void add(std::vector<Found>& all, const Host& host, const std::string& path) {
  const auto real = host.resolve(path);
  if (!real || std::ranges::find(all, *real, &Found::real) != all.end()) return;
  const auto info = host.info(*real);
  if (info && info->type == FileInfo::Type::regular) all.push_back({path, *real});
}

}  // namespace

std::string version_suffix(std::string_view name) {
  const auto at = name.rfind(".so.");
  if (at == std::string_view::npos) return {};
  const std::string_view version = name.substr(at + 4);
  return version.find('.') == std::string_view::npos ? std::string() : std::string(version);
}

std::string container_path(const std::string& real) {
  constexpr std::string_view kUserspace = "/userspace/";
  const auto at = real.find(kUserspace);
  if (!real.starts_with(kStore) || at == std::string::npos) return real;
  return standard_path(real.substr(at + kUserspace.size() - 1));
}

std::string standard_path(std::string path) {
  constexpr std::string_view kDebian = "/nvidia/current/";
  if (const auto debian = path.find(kDebian); debian != std::string::npos) path.replace(debian, kDebian.size(), "/");
  return path;
}

LibrarySearch::LibrarySearch(const Host& driver, std::vector<std::string> folders)
    : driver_(driver), folders_(once_each(driver, folders.empty() ? usual_folders() : std::move(folders))) {}

const std::vector<std::string>& LibrarySearch::names(const std::string& folder) {
  const auto [at, fresh] = names_.try_emplace(folder);
  if (fresh) at->second = driver_.list(folder).value_or({});
  return at->second;
}

std::vector<LibrarySearch::Cached>& LibrarySearch::cached() {
  if (cached_) return *cached_;
  const auto bytes = driver_.read(nvidia::kLdCache, nvidia::kMaxLdCache);
  cached_.emplace();
  if (!bytes) return *cached_;
  for (const std::string& path : nvidia::parse_ld_cache(*bytes, driver_.arch()).value_or({}))
    cached_->push_back({path});
  return *cached_;
}

std::vector<Found> LibrarySearch::find_in(const std::string& folder, const std::string& pattern) {
  std::vector<Found> all;
  const std::string start = literal_start(pattern);
  for (const std::string& name : names(folder))
    if (name.starts_with(start) && fits(pattern, name)) add(all, driver_, (folder == "/" ? "" : folder) + "/" + name);
  return all;
}

std::vector<Found> LibrarySearch::find(const std::string& pattern) {
  std::vector<Found> all;
  for (const std::string& folder : folders_)
    for (const Found& found : find_in(folder, pattern))
      if (std::ranges::find(all, found.real, &Found::real) == all.end()) all.push_back(found);
  if (!all.empty()) return all;
  const std::string start = literal_start(pattern);
  const auto take = [&](const std::string& path) {
    if (fits(pattern, file_name(path))) add(all, driver_, path);
  };
  for (Cached& each : cached()) {
    if (!file_name(each.path).starts_with(start)) continue;
    if (!std::exchange(each.is_followed, true)) each.links = links_from(driver_, each.path);
    take(each.path);
    std::ranges::for_each(each.links, take);
  }
  return all;
}

bool LibrarySearch::link_beside(const Found& file, const std::string& name) const {
  for (const std::string& folder : {folder_of(file.path), folder_of(file.real)}) {
    const auto info = driver_.info(folder + "/" + name);
    if (info && info->type == FileInfo::Type::symlink) return true;
  }
  return false;
}

std::string installed_version(LibrarySearch& search) {
  for (const char* pattern : {"libcuda.so.*.*", "libnvidia-ml.so.*.*"})
    for (const Found& found : search.find(pattern)) return version_suffix(file_name(found.real));
  return {};
}

Result<DriverLibraries> find_driver_libraries(LibrarySearch& search, const std::string& driver_version,
                                              bool with_explicit) {
  if (search.find("libcuda.so." + driver_version).empty()) return no_libcuda(driver_version, installed_version(search));
  std::vector<std::string> folders;
  for (const Found& found : search.find("lib*.so." + driver_version)) {
    add_once(folders, folder_of(found.path));
    add_once(folders, folder_of(found.real));
  }
  DriverLibraries libraries;
  const auto add_new = [&](const std::vector<Found>& all) {
    for (const Found& found : all)
      if (std::ranges::find(libraries.files, found.real, &Found::real) == libraries.files.end())
        libraries.files.push_back(found);
  };
  for (const std::string& folder : folders)
    for (const std::string& inside : {folder, folder + "/vdpau"})
      add_new(search.find_in(inside, "*.so." + driver_version));
  add_new(search.find("libnvidia-nvvm70.so.*"));
  if (with_explicit)
    for (const std::string name : kExplicit) add_new(search.find(name + ".so*"));
  for (const Found& found : libraries.files) add_once(libraries.folders, folder_of(container_path(found.real)));
  return libraries;
}

}  // namespace slipway::toolkit
