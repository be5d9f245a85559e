// SPDX-License-Identifier: Apache-2.0
// plugins/validator/companion_check.hpp - companion drivers: GPUDirect Storage, GDRCopy, peer memory, Mellanox OFED.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "validator/check.hpp"

namespace slipway::validator {

/// "nvidia-fs", "gdrcopy", "nvidia-peermem", "mofed".
const std::vector<std::string>& companions();
/// Its kernel module, which is what counts.
std::string companion_module(const std::string& companion);
/// The finding validator.COMPANION.
Finding check_companion(const Host& host, const std::string& companion);

/// The text of the file .driver-ctr-ready: which of them this driver has.
std::string driver_ctr_ready_text(const Host& host);

}  // namespace slipway::validator
