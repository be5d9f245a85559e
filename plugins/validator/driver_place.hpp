// SPDX-License-Identifier: Apache-2.0
// plugins/validator/driver_place.hpp - where the driver's libraries are: the host's folders, slipway's store, or what a
// driver container has installed.
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
  bool of_host = true;   ///< no driver container's
  bool own_dev = false;  ///< it has device nodes of its own, below ROOT/dev
  bool operator==(const DriverPlace&) const = default;
};

/// @param wanted  a root of the spec; empty: the usual ones, in that order
std::optional<DriverPlace> find_driver(const Host& host, const std::string& wanted);

/// Where the driver's library may be below that root; empty: below the usual ones. The caches of the dynamic linker are
/// among them.
std::vector<std::string> driver_library_paths(const std::string& root);

/// A library below the driver's root, in the usual folders or where its dynamic linker finds it; after links and inside
/// the host; empty when it is not there.
std::string find_library(const Host& host, const DriverPlace& place, std::string_view soname);

/// The text of the file driver-ready (GPU Operator's validator): what other programs source to find the driver.
std::string driver_ready_text(const DriverPlace& place);

}  // namespace slipway::validator
