// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/confined_deb.hpp - reads Debian packages in isolation: in a process of its own that writes into
// one folder, starts no programs, and has no network.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "driver/build/deb.hpp"

namespace slipway::driver {

/// Runs `work` in a forked process without those privileges and returns its result; it may write below `into`, which is
/// created, or nowhere when that is empty. Changes in memory are lost. Errors: those of `work`; `corrupt` when it did
/// not finish; system_error().
Result<Json> in_confined_process(const std::string& into, const std::function<Result<Json>()>& work);

/// read_deb_info() in such a process.
Result<DebInfo> read_deb_info_confined(const std::string& file);

/// unpack_deb() in such a process.
Status unpack_deb_confined(const std::string& file, const std::string& into, const DebPaths& paths,
                           std::vector<std::string>* left_out = nullptr);

}  // namespace slipway::driver
