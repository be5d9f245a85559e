// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_place.hpp"

#include "nvidia/library_folders.hpp"

namespace slipway::validator {
namespace {

using nvidia::kContainerDriverRoot;
using nvidia::kStoreRoot;

std::string below(const std::string& root, std::string_view path) {
  return root == "/" ? std::string(path) : root + std::string(path);
}

std::string library_below(const Host& host, const std::string& root, std::string_view soname) {
  for (const std::string_view folder : nvidia::kLibraryFolders)
    if (auto path = host.resolve(below(root, nvidia::in_folder(folder, soname)))) return *path;
  return {};
}

std::optional<DriverPlace> driver_at(const Host& host, const std::string& root) {
  std::string library = library_below(host, root, "libnvidia-ml.so.1");
  if (library.empty()) return std::nullopt;
  const auto dev = host.info(below(root, "/dev"));
  const bool of_host = root == "/" || root == kStoreRoot;
  return DriverPlace{root, std::move(library), of_host, !of_host && dev && dev->type == FileInfo::Type::directory};
}

}  // namespace

std::optional<DriverPlace> find_driver(const Host& host, const std::string& wanted) {
  if (!wanted.empty()) return driver_at(host, wanted);
  for (const std::string_view root : {std::string_view("/"), kStoreRoot, kContainerDriverRoot})
    if (auto place = driver_at(host, std::string(root))) return place;
  return std::nullopt;
}

std::string find_library(const Host& host, const DriverPlace& place, std::string_view soname) {
  return library_below(host, place.root, soname);
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
