// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/inputs.hpp - what a package build needs of the machine, looked at before anything is unpacked:
// minutes of compiling must not end at a folder that nobody may write to.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "driver/build/deb_set.hpp"
#include "driver/build/options.hpp"
#include "driver/detect/kernel_config.hpp"

namespace slipway::driver {

/// The folder can be written as an OCI layout: it is one, is empty, or can be made. Errors: `conflict` it holds
/// something else; `invalid` it is not a folder; `denied`, naming the folder that may not be written to.
Status check_output(const std::string& layout);

/// The folder for temporary files is there, and may be written to. Errors: `not_found`, `denied`.
Status check_scratch(const std::string& folder);

/// Key and certificate can be read and belong together. Nothing to do when there is none.
/// Errors: `not_found`, `denied`, `invalid`.
Status check_signing(const std::string& key, const std::string& certificate);

/// What a build takes at most, in bytes.
struct Room {
  std::uint64_t scratch = 0;
  std::uint64_t output = 0;
};
Room room_for(const DriverDebs& driver, const std::vector<DebInfo>& headers, bool compiles);

/// There is so much room where temporary files and the layout go. Errors: `no_space` how much is missing where; those
/// of asking the filesystem.
Status check_room(const std::string& scratch, const std::string& output, const Room& room);

/// The headers are those of a kernel that the driver can be compiled for, for the same processor.
/// Errors: `conflict`, with the packages that do not fit each other.
Status check_headers(const DriverDebs& driver, const std::vector<DebInfo>& headers);

/// The root has the kernel's compiler, make and strip. Errors: `not_found`, naming what is missing.
Status check_compiler(const Host& root, const std::string& root_folder, const KernelHeaders& headers);

}  // namespace slipway::driver
