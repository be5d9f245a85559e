// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/inputs.hpp - the needs of a package build, checked before anything is unpacked: minutes of
// compiling must not end at a folder that is not writable.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "driver/build/deb_set.hpp"
#include "driver/build/options.hpp"
#include "driver/detect/kernel_config.hpp"

namespace slipway::driver {

/// Checks that the folder can be written as an OCI layout: it is a layout, is empty, or can be created. Errors:
/// `conflict` it contains something else; `invalid` it is not a folder; `denied`, with the folder that is not writable.
Status check_output(const std::string& layout);

/// Checks that the folder for temporary files exists and is writable. Errors: `not_found`, `denied`.
Status check_scratch(const std::string& folder);

/// Checks that key and certificate can be read and belong together, if there are any. Errors: `not_found`, `denied`,
/// `invalid`.
Status check_signing(const std::string& key, const std::string& certificate);

/// The space that a build needs at most, in bytes.
struct Room {
  std::uint64_t scratch = 0;
  std::uint64_t output = 0;
};
Room room_for(const DriverDebs& driver, const std::vector<DebInfo>& headers, bool compiles);

/// Checks the free space for temporary files and the layout. Errors: `no_space` with the missing amount and the place;
/// those of reading the filesystem's state.
Status check_room(const std::string& scratch, const std::string& output, const Room& room);

/// Checks that the headers are for a kernel and a processor that the driver can be compiled for. Errors: `conflict`,
/// with the packages that do not fit each other.
Status check_headers(const DriverDebs& driver, const std::vector<DebInfo>& headers);

/// Checks that the root has the kernel's compiler, make and strip. Errors: `not_found`, with the missing program.
Status check_compiler(const Host& root, const std::string& root_folder, const KernelHeaders& headers);

}  // namespace slipway::driver
