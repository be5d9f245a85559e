// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_place.hpp"

#include <vector>

#include "nvidia/ld_cache.hpp"
#include "nvidia/library_folders.hpp"

namespace slipway::validator {
namespace {

using nvidia::kContainerDriverRoot;
using nvidia::kStoreRoot;

std::string below(const std::string& root, std::string_view path) {
  return root == "/" ? std::string(path) : root + std::string(path);
}

constexpr std::string_view kNvml = "libnvidia-ml.so.1";

std::string library_in_folders(const Host& host, const std::string& root, std::string_view soname) {
  for (const std::string_view folder : nvidia::kLibraryFolders)
    if (auto path = host.resolve(below(root, nvidia::in_folder(folder, soname)))) return *path;
  return {};
}

/// Returns the library's path in that root's dynamic linker cache.
std::string library_in_cache(const Host& host, const std::string& root, std::string_view soname) {
  const auto bytes = host.read(below(root, nvidia::kLdCache), nvidia::kMaxLdCache);
  const auto cached = bytes ? nvidia::parse_ld_cache(*bytes, host.arch()).value_or({}) : std::vector<std::string>();
  for (const std::string& each : cached) {
    if (!each.ends_with("/" + std::string(soname))) continue;
    if (auto path = host.resolve(below(root, each))) return *path;
  }
  return {};
}

using LookUp = std::string (*)(const Host& host, const std::string& root, std::string_view soname);

std::optional<DriverPlace> driver_at(const Host& host, const std::string& root, LookUp look_up) {
  std::string library = look_up(host, root, kNvml);
  if (library.empty()) return std::nullopt;
  const auto dev = host.info(below(root, "/dev"));
  const bool of_host = root == "/" || root == kStoreRoot;
  return DriverPlace{root, std::move(library), of_host, !of_host && dev && dev->type == FileInfo::Type::directory};
}

std::vector<std::string> roots_of(const std::string& wanted) {
  if (!wanted.empty()) return {wanted};
  return {"/", std::string(kStoreRoot), std::string(kContainerDriverRoot)};
}

}  // namespace

std::vector<std::string> driver_library_paths(const std::string& root) {
  std::vector<std::string> paths;
  for (const std::string& each : roots_of(root)) {
    for (const std::string_view folder : nvidia::kLibraryFolders)
      paths.push_back(below(each, nvidia::in_folder(folder, kNvml)));
    paths.push_back(below(each, nvidia::kLdCache));
  }
  return paths;
}

std::optional<DriverPlace> find_driver(const Host& host, const std::string& wanted) {
  const std::vector<std::string> roots = roots_of(wanted);
  // The host's cache also has libraries that slipway installed, so the folders come first.
  for (const LookUp look_up : {&library_in_folders, &library_in_cache})
    for (const std::string& root : roots)
      if (auto place = driver_at(host, root, look_up)) return place;
  return std::nullopt;
}

std::string find_library(const Host& host, const DriverPlace& place, std::string_view soname) {
  std::string path = library_in_folders(host, place.root, soname);
  return path.empty() ? library_in_cache(host, place.root, soname) : path;
}

// Containers that source it have the host at /host and a driver container's root at /driver-root.
std::string driver_ready_text(const DriverPlace& place) {
  const std::string in_container = !place.of_host      ? "/driver-root"
                                   : place.root == "/" ? std::string("/host")
                                                       : "/host" + place.root;
  return std::string("IS_HOST_DRIVER=") + (place.of_host ? "true" : "false") + "\nNVIDIA_DRIVER_ROOT=" + place.root +
         "\nDRIVER_ROOT_CTR_PATH=" + in_container + "\nNVIDIA_DEV_ROOT=" + (place.own_dev ? place.root : "/") +
         "\nDEV_ROOT_CTR_PATH=" + (place.own_dev ? in_container : "/host") + "\n";
}

}  // namespace slipway::validator
