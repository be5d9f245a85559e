// SPDX-License-Identifier: Apache-2.0
// core/action/file/owner.hpp - users and groups by name, as the root knows them.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

/// Names or numbers, looked up in the root's own /etc/passwd and /etc/group; "root" is 0 even where these are missing.
/// Without the right to give files away (not run as root) everything belongs to whoever runs slipway, as with tar, on a
/// root of their own; somebody else's root is looked at as its owner would.
/// Errors: `not_found`, naming the user or group.
Result<Owner> find_owner(const Host& host, const std::string& user, const std::string& group);

}  // namespace slipway::core
