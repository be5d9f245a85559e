// SPDX-License-Identifier: Apache-2.0
// plugins/validator/driver_place.hpp - the place of the driver's libraries: the host's folders, slipway's store, or the
// files that a driver container has installed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::validator {

struct DriverPlace {
  std::string root;      ///< inside the host: "/", "/run/nvidia/driver"
  std::string library;   ///< libnvidia-ml.so.1 inside the host, after links
  bool of_host = true;   ///< false: the place is a driver container's
  bool own_dev = false;  ///< the place has its own device nodes, below ROOT/dev
  bool operator==(const DriverPlace&) const = default;
};

/// @param wanted  root from the spec; empty: the usual ones, in that order
std::optional<DriverPlace> find_driver(const Host& host, const std::string& wanted);

/// Returns possible places of the driver's library below that root; empty: below the usual ones. Includes the caches of
/// the dynamic linker.
std::vector<std::string> driver_library_paths(const std::string& root);

/// Returns a library below the driver's root, in the usual folders or in its dynamic linker's cache; after links and
/// inside the host; empty when it is missing.
std::string find_library(const Host& host, const DriverPlace& place, std::string_view soname);

/// Returns the text of the file driver-ready (GPU Operator's validator), which other programs source to find the
/// driver.
std::string driver_ready_text(const DriverPlace& place);

}  // namespace slipway::validator
