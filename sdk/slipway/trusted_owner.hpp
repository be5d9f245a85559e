// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/trusted_owner.hpp - whose files may be run: root's, the caller's, and in a user namespace slipway's own.
#pragma once

#include <string>

#include <sys/types.h>

namespace slipway {

/// Whether this owner of a file may decide what is run from it: root and the caller always. In a user namespace, users
/// that it does not map are all shown as one, the overflow user (user_namespaces(7)). That one is trusted when the root
/// folder or the running program is shown as theirs too, and never when the namespace has a user of that number.
bool is_trusted_owner(uid_t owner);

/// The same by hand. @param proc  the folder that is /proc
bool is_trusted_owner(uid_t owner, uid_t caller, const std::string& proc);

}  // namespace slipway
